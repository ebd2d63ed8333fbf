#!/bin/bash
# t0230-plan-classes.sh - versions with a plan class: who gets one, how it is
# told to use the host, why another host gets none; plan_class_spec.xml right and
# wrong; project preferences.
. "$(dirname "$0")/../lib/bare.sh"

bare_new planclass
bare_app
bare_user 7 alice $ALICE
bare_host 17 7
feeder_up

plan_class() { # NAME: the version's; a new array, some jobs
	feeder_down
	sql "DELETE FROM result; DELETE FROM workunit; DELETE FROM host_app_version;
		UPDATE app_version SET plan_class = '$1'"
	bare_jobs 3 "${2:-id = id}"
	sql "UPDATE result r JOIN workunit w ON w.id = workunitid SET r.batch = w.batch"
	feeder_up
	feeder_fill
}
spec() { # ELEMENTS: of class "c", in lines 4 and on
	printf '<plan_classes>\n<plan_class>\n<name>c</name>\n%s\n</plan_class>\n</plan_classes>\n' "$1" \
		>"$PROJECT/plan_class_spec.xml"
}
none() { sends 0 && says "$1"; } # TEXT: nothing is sent, and this is why
able='<client_cap_plan_class>1</client_cap_plan_class>'
works() { ask "$able" "$@"; }
check() { (cd "$PROJECT" && "$build/tools/check_plan_classes" "$@") >"$T/out" 2>&1; }
checked() { # STATUS TEXT [ARGUMENT…]
	local status=$1 text=$2 got
	shift 2
	check "$@"
	got=$?
	[ "$got" = "$status" ] && grep -q -e "$text" "$T/out" && return 0
	echo "# status $got"
	sed 's/^/# /' "$T/out"
	return 1
}

# ---- a built-in class ----
plan_class mt
ask
promise "a client that knows no plan classes gets none" sends 0
works
promise "several CPUs: sent" sends 1
promise "it is told the class" same mt "$(reply_of app_version/plan_class)"
promise "and how many CPUs" same 4 "$(reply_of app_version/avg_ncpus | sed 's/\.0*$//')"
promise "and what to say to the program" same "--nthreads 4" "$(reply_of app_version/cmdline)"
works ncpus=2
promise "two CPUs are enough" sends 1
works ncpus=1
promise "one is not, and the reason is told" none "needs 2 processors, 1 may be used"
promise "no file: the built-in classes are used" checked 0 "built-in classes"

# ---- a file: the built-in names are not used any more ----
spec '<min_ncpus>16</min_ncpus>'
plan_class mt
works
promise "a class that the file does not describe is nobody's" sends 0
plan_class c
works ncpus=15
promise "a class for 16 CPUs: none with 15" none "needs 16 processors, 15 may be used"
works ncpus=16
promise "sent with 16" sends 1
spec '<cpu_feature>avx2</cpu_feature>'
works '<host_info><p_features>fpu avx avx512</p_features></host_info>'
promise "the file is read again; a feature that is not there" none "needs a CPU with avx2"
works '<host_info><p_features>fpu avx AVX2</p_features></host_info>'
promise "one that is" sends 1

# ---- GPUs ----
gpu() { # DRIVER [MB [COUNT [COMPCAP]]]: its request is for the GPU alone
	works secs=0 work=0 "<coprocs><coproc_cuda><count>${3:-1}</count>
		<name>NVIDIA Example 4000</name><have_cuda>1</have_cuda>
		<req_secs>8640</req_secs><req_instances>1</req_instances>
		<peak_flops>1e12</peak_flops><cudaVersion>12020</cudaVersion>
		<drvVersion>$1</drvVersion>
		<totalGlobalMem>$((${2:-2000} * 1048576))</totalGlobalMem>
		<major>${4:-8}</major><minor>9</minor></coproc_cuda></coprocs>"
}
spec '<gpu_type>nvidia</gpu_type><cuda/><min_driver_version>45080</min_driver_version>
<min_gpu_ram_mb>2000</min_gpu_ram_mb><min_nvidia_compcap>800</min_nvidia_compcap>
<gpu_ram_used_mb>1500</gpu_ram_used_mb>'
plan_class c "rsc_fpops_est = 1e14, rsc_fpops_bound = 1e16"
gpu 45079
promise "a driver that is a step too old" none "needs NVIDIA driver 450.80 or later, this is 450.79"
gpu 45080 1999
promise "memory that is a MB too small" none "needs 2000 MB of video memory, the NVIDIA GPU has 1999 MB"
gpu 45080 2000 1 7
promise "a GPU of an older kind" none "needs compute capability 8.0 or later, this is 7.9"
works
promise "no GPU" none "needs a coprocessor of type NVIDIA GPU"
gpu 45080
promise "exactly all of it: sent" test "$(n_sent)" -ge 1
promise "with the GPU that it uses" same "NVIDIA 1" "$(reply_of app_version/coproc/type) $(reply_of app_version/coproc/count | sed 's/\.0*$//')"
promise "and its memory" same 1572864000 "$(reply_of app_version/gpu_ram | sed 's/\.0*$//')"

# ---- preferences ----
spec '<project_prefs_tag>speed</project_prefs_tag><project_prefs_regex>^fast$</project_prefs_regex>'
plan_class c
works
promise "who has not chosen it gets none" none "preferences for this project do not choose it"
prefs() {
	sql "UPDATE user SET project_prefs = '<project_preferences>$1</project_preferences>'"
}
prefs '<project_specific><speed>fast</speed></project_specific>
<venue name="work"><project_specific><speed>slow</speed></project_specific></venue>'
works
promise "who has does" sends 1
sql "UPDATE host SET venue = 'work'"
works
promise "but not for a host of another venue" none "do not choose it"
sql "UPDATE host SET venue = ''"
sql "UPDATE user SET project_prefs = NULL"

# ---- faults ----
cat >"$PROJECT/plan_class_spec.xml" <<'END'
<plan_classes>
  <plan_class>
    <name>bad</name>
    <min_ncpu>2</min_ncpu>
  </plan_class>
  <plan_class>
    <name>c</name>
  </plan_class>
</plan_classes>
END
promise "a fault is told with its line" checked 1 \
	"plan_class_spec.xml:4: unknown element <min_ncpu>; did you mean <min_ncpus>?"
promise "and which class is not used" grep -q '^bad .*not used' "$T/out"
works
promise "the other class is" sends 1
promise "the log tells the fault" grep -q 'CRITICAL.*plan_class_spec.xml:4: unknown' "$PROJECT/log/scheduler.log"
plan_class bad
works
promise "the bad one is not" sends 0
plan_class c
printf '<plan_classes>\n<plan_class>\n<name>c</name>\n<wsl>\n</plan_class>\n</plan_classes>\n' \
	>"$PROJECT/plan_class_spec.xml"
promise "an end tag that is missing" checked 1 "plan_class_spec.xml:5: .*wsl.*no plan class can be used"
works
promise "then no class is used" sends 0
promise "the sample has no faults" checked 0 '^vbox64 .*VirtualBox' "$top/tools/plan_class_spec.xml.sample"
promise "every element has a line of reference" checked 0 '^min_gpu_ram_mb ' --reference
promise "a file that is not there is a fault" checked 1 "cannot be read" nothing.xml

# ---- jobs of one batch alone ----
spec '<min_batch>5</min_batch><max_batch>5</max_batch>'
plan_class c "batch = 6"
works
promise "a class for one batch: not for another" sends 0
plan_class c "batch = 5"
works
promise "but for that one" sends 1

done_promising
