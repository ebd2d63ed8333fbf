/* accounts.c - lookup_account.php and create_account.php: accounts from within
 * a client (protocol §1.4, 1.5, 7.1). */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "account.h"
#include "cgi.h"
#include "clock.h"
#include "config.h"
#include "db.h"
#include "db_web.h"
#include "digest.h"
#include "guess.h"
#include "log.h"
#include "pages.h"
#include "utf8.h"
#include "xml.h"

#define MAX_EMAIL 190
#define MAX_USER_NAME 190
#define WRONG_PAUSE 0.2 /* s */

/* ---- arguments ------------------------------------------------------------
 */

/* The address as accounts have it: lower case, without blanks around.  False if
 * the argument is missing or no ASCII text that fits. */
static bool
get_email(const struct request *rq, char ret[NAME_SIZE])
{
    struct buf text = BUF_INIT;
    const char *p;
    size_t n;
    bool good = cgi_arg(rq->query, "email_addr", &text);

    p = buf_str(&text) + strspn(buf_str(&text), " \t\r\n");
    n = strlen(p);
    while (n > 0 && isspace((unsigned char)p[n - 1]))
        n--;
    good = good && n > 0 && n <= MAX_EMAIL;
    for (size_t i = 0; good && i < n; i++) {
        good = isgraph((unsigned char)p[i]) && (unsigned char)p[i] < 127;
        ret[i] = (char)tolower((unsigned char)p[i]);
    }
    ret[good ? n : 0] = '\0';
    buf_free(&text);
    return good;
}

/* name@host.domain, of characters that real addresses have. */
static bool
is_address(const char *email)
{
    const char *at = strchr(email, '@');
    const char *dot;

    if (at == NULL || at == email || strchr(at + 1, '@') != NULL)
        return false;
    dot = strrchr(at, '.');
    if (dot == NULL || dot == at + 1 || dot[1] == '\0' ||
        strstr(email, "..") != NULL || email[0] == '.' || at[-1] == '.')
        return false;
    for (const char *p = email; p < at; p++)
        if (!isalnum((unsigned char)*p) &&
            strchr("!#$%&'*+-/=?^_`{|}~.", *p) == NULL)
            return false;
    for (const char *p = at + 1; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("-.", *p) == NULL)
            return false;
    return true;
}

/* 32 hex digits, as lower case.  False: missing, or something else. */
static bool
get_hash(const struct request *rq, char ret[MD5_HEX])
{
    struct buf text = BUF_INIT;
    bool good = cgi_arg(rq->query, "passwd_hash", &text) && text.len == 32;

    for (size_t i = 0; good && i < 32; i++) {
        good = isxdigit((unsigned char)text.data[i]) != 0;
        ret[i] = (char)tolower((unsigned char)text.data[i]);
    }
    ret[good ? 32 : 0] = '\0';
    buf_free(&text);
    return good;
}

static bool
has_arg(const struct request *rq, const char *name)
{
    struct buf text = BUF_INIT;
    bool has = cgi_arg(rq->query, name, &text) && text.len > 0;

    buf_free(&text);
    return has;
}

/* ---- answers --------------------------------------------------------------
 */

static void
give_key(struct reply *reply, const char *authenticator)
{
    reply->type = "text/xml";
    buf_add(&reply->body, "<?xml version=\"1.0\" encoding=\"UTF-8\" ?>\n");
    xml_open(&reply->body, "account_out");
    if (authenticator != NULL)
        xml_put_str(&reply->body, "authenticator", authenticator);
    else
        xml_put_empty(&reply->body, "success");
    xml_close(&reply->body, "account_out");
}

static void
no_database(struct reply *reply)
{
    rpc_fail(reply, RPC_NO_DATABASE, "The project's database is down");
}

/* The password as sent, or a digest of the account key. */
static bool
password_fits(const struct user *user, const char *hash)
{
    char of_key[MD5_HEX];

    digest_md5_of(of_key, user->authenticator, user->email_addr, NULL);
    return digest_same(of_key, hash) ||
           password_verify(hash, user->passwd_hash);
}

/* Checks a password, slowly if it is wrong.  False: wrong. */
static bool
check_password(struct db *db, const struct request *rq, const struct user *user,
               const char *hash)
{
    int64_t now = clock_now();

    if (guess_is_excessive(db, user->email_addr, rq->address, now)) {
        log_warning("too many wrong passwords for %s or from %s",
                    user->email_addr, rq->address);
        return false;
    }
    if (password_fits(user, hash))
        return true;
    guess_failed(db, user->email_addr, rq->address, now);
    clock_sleep(WRONG_PAUSE);
    return false;
}

/* ---- look-up --------------------------------------------------------------
 */

static void
look_up(struct web *w, const struct request *rq, const char *email,
        struct reply *reply)
{
    struct db *db = web_db(w);
    struct user user;
    char hash[MD5_HEX];
    int rc = db != NULL ? db_web_user_by_email(db, email, &user) : -1;

    if (rc == DB_NONE)
        rpc_fail(reply, RPC_NOT_FOUND, "No account with this e-mail address");
    else if (rc != 0)
        no_database(reply);
    else if (!has_arg(rq, "passwd_hash"))
        give_key(reply, NULL);
    else if (get_hash(rq, hash) && check_password(db, rq, &user, hash))
        give_key(reply, user.authenticator);
    else
        rpc_fail(reply, RPC_BAD_PASSWORD, "Wrong password");
}

void
page_lookup_account(struct web *w, const struct request *rq,
                    struct reply *reply)
{
    char email[NAME_SIZE];

    if (web_arg_true(rq, "ldap_auth"))
        rpc_fail(reply, RPC_OTHER, "LDAP is not supported here");
    else if (get_email(rq, email))
        look_up(w, rq, email, reply);
    else if (has_arg(rq, "email_addr"))
        rpc_fail(reply, RPC_NOT_FOUND, "No account with this e-mail address");
    else
        rpc_fail(reply, RPC_OTHER, "email_addr is missing");
}

/* ---- creation -------------------------------------------------------------
 */

/* Why this cannot be a user's name; NULL if it can. */
static const char *
fault_of_name(const char *name, size_t n)
{
    if (n == 0)
        return "The user name is empty";
    if (n > MAX_USER_NAME)
        return "The user name is too long";
    if (isspace((unsigned char)name[0]) || isspace((unsigned char)name[n - 1]))
        return "The user name begins or ends with a blank";
    if (strpbrk(name, "<>&\"'") != NULL)
        return "The user name holds one of < > & \" '";
    for (size_t i = 0, len; i<n; i += len> 0 ? len : 1) {
        uint32_t code;

        len = utf8_char(name + i, n - i, &code);
        if (len == 0 || utf8_deceives(code))
            return "The user name holds a control character";
    }
    if (strspn(name, "0123456789") == n)
        return "The user name is a number";
    return NULL;
}

/* What the request says, checked.  False: refused, reply is made. */
static bool
read_new_account(const struct web *w, const struct request *rq,
                 struct user *user, char hash[MD5_HEX], struct reply *reply)
{
    struct buf name = BUF_INIT;
    const char *fault;

    memset(user, 0, sizeof(*user));
    if (!get_email(rq, user->email_addr) || !is_address(user->email_addr)) {
        rpc_fail(reply, RPC_BAD_EMAIL, "This is no e-mail address");
        return false;
    }
    if (!get_hash(rq, hash)) {
        rpc_fail(reply, RPC_OTHER, "passwd_hash must be 32 hex digits");
        return false;
    }
    cgi_arg(rq->query, "user_name", &name);
    fault = fault_of_name(buf_str(&name), name.len);
    if (fault != NULL)
        rpc_fail(reply, RPC_BAD_USER_NAME, fault);
    else
        str_copy(user->name, sizeof(user->name), buf_str(&name));
    buf_free(&name);
    if (fault == NULL && w->cfg->account_creation_rpc_require_consent &&
        !web_arg_true(rq, "consent_flag")) {
        rpc_fail(reply, RPC_NEEDS_CONSENT,
                 "The terms of use must be agreed to");
        return false;
    }
    return fault == NULL;
}

/* The address has an account: the same password gets its key again, so a client
 * that lost the answer may repeat. */
static void
answer_existing(struct db *db, const struct request *rq,
                const struct user *there, const char *hash, struct reply *reply)
{
    if (check_password(db, rq, there, hash))
        give_key(reply, there->authenticator);
    else
        rpc_fail(reply, RPC_NOT_UNIQUE,
                 "There is an account with this e-mail address and another "
                 "password");
}

static int
fill_new_account(struct web *w, const struct request *rq, struct db *db,
                 const char *hash, struct user *user)
{
    struct buf team = BUF_INIT;
    char stored[128];
    int rc = 0;

    if (cgi_arg(rq->query, "team_name", &team) && team.len > 0 &&
        db_web_open_team(db, buf_str(&team), &user->teamid) < 0)
        rc = -1;
    buf_free(&team);
    if (rc != 0 || password_hash(hash, stored) != 0)
        return -1;
    str_copy(user->passwd_hash, sizeof(user->passwd_hash), stored);
    random_hex(user->authenticator, 32);
    random_hex(user->cross_project_id, 32);
    str_copy(user->country, sizeof(user->country), "International");
    user->show_hosts = !w->cfg->enable_privacy_by_default;
    return 0;
}

static void
insert_account(struct web *w, const struct request *rq, struct db *db,
               const char *hash, struct user *user, struct reply *reply)
{
    struct buf source = BUF_INIT;
    struct user there;
    bool consent = web_arg_true(rq, "consent_flag");
    int64_t max = w->cfg->max_accounts_per_address;
    int rc;

    if (guess_makes_too_many(db, rq->address, max, clock_now())) {
        log_warning("more than %" PRId64 " accounts from %s within an hour",
                    max, rq->address);
        rpc_fail(reply, RPC_OTHER,
                 "Too many accounts were made from your address; try again "
                 "later");
        return;
    }
    rc = fill_new_account(w, rq, db, hash, user);

    cgi_arg(rq->query, "source", &source);
    if (rc == 0)
        rc = db_web_user_create(db, user, consent ? buf_str(&source) : NULL,
                                clock_now());
    buf_free(&source);
    if (rc == 0) {
        log_normal("account %s was made from %s", user->email_addr,
                   rq->address);
        if (max > 0)
            guess_account_made(db, rq->address, clock_now());
        give_key(reply, user->authenticator);
        return;
    }
    /* taken: the address by a request that came meanwhile, or the name */
    if (rc == DB_EXISTS)
        rc = db_web_user_by_email(db, user->email_addr, &there);
    if (rc == 0)
        answer_existing(db, rq, &there, hash, reply);
    else if (rc == DB_NONE)
        rpc_fail(reply, RPC_BAD_USER_NAME, "The user name is in use");
    else
        no_database(reply);
}

void
page_create_account(struct web *w, const struct request *rq,
                    struct reply *reply)
{
    struct user user, there;
    char hash[MD5_HEX];
    struct db *db;
    int rc;

    if (w->cfg->disable_account_creation ||
        w->cfg->disable_account_creation_rpc) {
        rpc_fail(reply, RPC_NO_CREATION, "No accounts can be made here");
        return;
    }
    if (!read_new_account(w, rq, &user, hash, reply))
        return;
    db = web_db(w);
    rc = db != NULL ? db_web_user_by_email(db, user.email_addr, &there) : -1;
    if (rc == 0) {
        answer_existing(db, rq, &there, hash, reply);
        return;
    }
    if (rc == DB_NONE)
        rc = db_web_email_taken(db, user.email_addr);
    if (rc == DB_NONE)
        insert_account(w, rq, db, hash, &user, reply);
    else if (rc == 0)
        rpc_fail(reply, RPC_NOT_UNIQUE,
                 "The e-mail address belonged to another account");
    else
        no_database(reply);
}
