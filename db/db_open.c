/* db_open.c - connect as the project's config.xml and its account files say. */
#include "db.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "config.h"
#include "db_private.h"
#include "file.h"
#include "log.h"

enum {
    ACCOUNT_FILE_MAX = 1024,
    PATIENCE = 300,    /* s, for an answer of the database */
    WEB_PATIENCE = 30, /* where somebody waits for ours */
};

const char *
db_account_name(enum db_account account)
{
    static const char *const name[DB_N_ACCOUNTS] = {
        [DB_ACCOUNT_OWNER] = "owner",
        [DB_ACCOUNT_SCHEDULER] = "scheduler",
        [DB_ACCOUNT_UPLOAD_HANDLER] = "upload_handler",
        [DB_ACCOUNT_WEB] = "web",
        [DB_ACCOUNT_FEEDER] = "feeder",
        [DB_ACCOUNT_TRANSITIONER] = "transitioner",
        [DB_ACCOUNT_VALIDATOR] = "validator",
        [DB_ACCOUNT_ASSIMILATOR] = "assimilator",
        [DB_ACCOUNT_TRICKLE] = "trickle",
        [DB_ACCOUNT_FILE_DELETER] = "file_deleter",
        [DB_ACCOUNT_PURGE] = "db_purge",
        [DB_ACCOUNT_SIZE_REGULATOR] = "size_regulator",
        [DB_ACCOUNT_SUBMITTER] = "submitter",
        [DB_ACCOUNT_OPERATOR] = "operator",
        [DB_ACCOUNT_READER] = "reader",
    };

    return name[account];
}

char *
db_account_path(const struct config *cfg, enum db_account account)
{
    struct buf path = BUF_INIT;

    buf_addf(&path, "%s/db_accounts/%s", cfg->project_root,
             db_account_name(account));
    return buf_take(&path);
}

/* The account of config.xml.  Its password may be one that this program must
 * not read: said here, where it is wanted, and not by every program that has an
 * account of its own. */
static struct db *
open_as_owner(const struct config *cfg, unsigned patience)
{
    if (cfg->db_passwd_file[0] != '\0' && cfg->db_passwd[0] == '\0')
        log_warning("%s: no password: it is not readable, or empty",
                    cfg->db_passwd_file);
    return db_open_patient(cfg->db_host, cfg->db_user, cfg->db_passwd,
                           cfg->db_name, patience);
}

/* Two lines: name, password.  False: the file is no account's. */
static bool
split(struct buf *text, const char **ret_user, const char **ret_passwd)
{
    char *line = text->len > 0 ? strchr(text->data, '\n') : NULL;

    if (line == NULL)
        return false;
    *line++ = '\0';
    line[strcspn(line, "\r\n")] = '\0';
    text->data[strcspn(text->data, "\r")] = '\0';
    *ret_user = text->data;
    *ret_passwd = line;
    return text->data[0] != '\0' && line[0] != '\0';
}

/* A file that must not be read is no reason to try the owner's password: what
 * is wrong would stay hidden. */
static struct db *
open_by_file(const struct config *cfg, const char *path, unsigned patience)
{
    struct buf text = BUF_INIT;
    struct db *db = NULL;
    const char *user, *passwd;

    if (file_read(path, ACCOUNT_FILE_MAX, &text) != 0) {
        if (errno == ENOENT)
            db = open_as_owner(cfg, patience);
        else
            log_errno("database account %s", path);
    } else if (!split(&text, &user, &passwd)) {
        log_critical("database account %s: the file must have two lines, name "
                     "and password",
                     path);
    } else {
        db =
            db_open_patient(cfg->db_host, user, passwd, cfg->db_name, patience);
    }
    buf_free(&text);
    return db;
}

static unsigned
patience_of(enum db_account account)
{
    return account == DB_ACCOUNT_SCHEDULER || account == DB_ACCOUNT_WEB
               ? WEB_PATIENCE
               : PATIENCE;
}

struct db *
db_open(const struct config *cfg, enum db_account account)
{
    char *path;
    struct db *db;

    if (account == DB_ACCOUNT_OWNER)
        return open_as_owner(cfg, PATIENCE);
    path = db_account_path(cfg, account);
    db = open_by_file(cfg, path, patience_of(account));
    free(path);
    return db;
}
