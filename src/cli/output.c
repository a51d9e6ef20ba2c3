/* output.c - see output.h. */
#define _GNU_SOURCE 1
#include "cli/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Zero tells the stream that the write failed. */
static ssize_t pass_on(void *context, const char *bytes, size_t count)
{
    rg_output *out = context;
    if (rg_file_write(out->file, bytes, count) == RG_OK && rg_file_flush(out->file) == RG_OK) return (ssize_t)count;
    if (!out->why) out->why = rg_strdup(rg_message());
    errno = EIO;
    return 0;
}

rg_status rg_output_open(rg_output *out, const char *path)
{
    *out = (rg_output){ .stream = stdout };
    if (strcmp(path, "-") == 0) return RG_OK;
    RG_TRY(rg_file_replace_begin(&out->file, path));
    out->stream = fopencookie(out, "w", (cookie_io_functions_t){ .write = pass_on });
    if (out->stream) return RG_OK;
    rg_file_replace_abandon(out->file);
    *out = (rg_output){ 0 };
    return rg_fail(RG_ENOMEM, "%s: no memory to write it", path);
}

rg_status rg_output_flush(rg_output *out)
{
    errno = 0;
    if (fflush(out->stream) == 0 && !ferror(out->stream)) return RG_OK;
    if (out->why) return rg_fail(RG_EIO, "%s", out->why);
    return rg_fail(RG_EIO, "cannot write the results: %s", strerror(errno ? errno : EIO));
}

rg_status rg_output_close(rg_output *out, rg_status status)
{
    if (status == RG_OK && out->stream) status = rg_output_flush(out);
    char *message = status == RG_OK ? NULL : rg_strdup(rg_message());
    if (out->file) {
        fclose(out->stream); /* after a failure it may try once more to write, in vain */
        if (status == RG_OK) status = rg_file_replace_commit(out->file);
        else rg_file_replace_abandon(out->file);
    }
    if (message) rg_fail(status, "%s", message);
    rg_free(message);
    rg_free(out->why);
    *out = (rg_output){ 0 };
    return status;
}

rg_status rg_output_is_not(const char *flag, const char *output, const char *input)
{
    struct stat to, from;
    const bool  standard = strcmp(input, "-") == 0;
    if (!*output || strcmp(output, "-") == 0 || stat(output, &to) != 0 || !S_ISREG(to.st_mode)) return RG_OK;
    if ((standard ? fstat(STDIN_FILENO, &from) : stat(input, &from)) != 0) return RG_OK;
    if (to.st_dev != from.st_dev || to.st_ino != from.st_ino) return RG_OK;
    return rg_fail(RG_EINVAL, "--%s %s is the file that is read%s%s; write to another one", flag, output,
                   standard ? "" : " as ", standard ? "" : input);
}
