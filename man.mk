# man.mk - man pages, made at build time by the programs themselves (--man).
#
# A folder's Makefile.am names its pages, then includes this file at its end:
#
#   bin_PROGRAMS = create_work stage_file
#   man1_MANS = create_work.1 stage_file.1
#   man_makers = $(bin_PROGRAMS)
#   include $(top_srcdir)/man.mk
#
# (daemons: man8_MANS = feeder.8 ...).  PROG.1 and PROG.8 come from ./PROG --man;
# man_makers is what must be built before.  The pages lie in the build folder,
# are not distributed, and go away with `make clean`; a folder with more to
# clean says CLEANFILES += ... behind the include.
CLEANFILES = $(man1_MANS) $(man8_MANS)

$(man1_MANS) $(man8_MANS): $(man_makers)
	$(AM_V_GEN)page=$@; prog=./$${page%.*}; \
	$$prog --man >$@.tmp && mv $@.tmp $@
