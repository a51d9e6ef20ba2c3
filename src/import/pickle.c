/* pickle.c - see pickle.h. The instructions are those of protocols 2 to 5 that PyTorch's state dictionaries use. */
#include "import/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "regard/text.h"

enum { MOST_STACK = 1 << 20, MOST_MEMO = 1 << 20 };

typedef struct {
    rg_arena            *arena;
    const unsigned char *at, *begin, *end;
    rg_pickle          **stack, **memo;
    size_t               depth, stack_room, memos, memo_room;
    rg_pickle           *result;
} machine;

/* ------------------------------------------------------------------------------------------------ what may be named */

typedef enum { ORDERED_DICT, REBUILD_TENSOR, REBUILD_PARAMETER, STORAGE } meaning;
static const struct {
    const char *module, *name;
    meaning     means;
    rg_dtype    dtype;
} allowed[] = {
    { "collections", "OrderedDict", ORDERED_DICT, 0 },
    { "torch._utils", "_rebuild_tensor_v2", REBUILD_TENSOR, 0 },
    { "torch._utils", "_rebuild_parameter", REBUILD_PARAMETER, 0 },
    { "torch", "FloatStorage", STORAGE, RG_DTYPE_F32 },      { "torch", "DoubleStorage", STORAGE, RG_DTYPE_F64 },
    { "torch", "HalfStorage", STORAGE, RG_DTYPE_F16 },       { "torch", "BFloat16Storage", STORAGE, RG_DTYPE_BF16 },
    { "torch", "LongStorage", STORAGE, RG_DTYPE_I64 },       { "torch", "IntStorage", STORAGE, RG_DTYPE_I32 },
    { "torch", "ShortStorage", STORAGE, RG_DTYPE_I16 },      { "torch", "CharStorage", STORAGE, RG_DTYPE_I8 },
    { "torch", "ByteStorage", STORAGE, RG_DTYPE_U8 },        { "torch", "BoolStorage", STORAGE, RG_DTYPE_BOOL },
};

/* ------------------------------------------------------------------------------------------------------ the machine */

static rg_status cut_short(const machine *m)
{
    return rg_fail(RG_EFORMAT, "the pickle is cut short at byte %zu", (size_t)(m->at - m->begin));
}

static rg_pickle *new_value(machine *m, rg_pickle_type type)
{
    rg_pickle *v = rg_arena_get_zero(m->arena, sizeof *v);
    if (v) v->type = type;
    return v;
}

static rg_status grow(rg_pickle ***list, size_t *room, size_t count, size_t most)
{
    if (count < *room) return RG_OK;
    if (count >= most) return rg_fail(RG_ELIMIT, "a pickle with more than %zu values at once", most);
    const size_t more = *room ? 2 * *room : 256;
    rg_pickle  **next = rg_realloc(*list, more * sizeof *next);
    if (!next) return RG_ENOMEM;
    *list = next;
    *room = more;
    return RG_OK;
}

static rg_status push(machine *m, rg_pickle *v)
{
    if (!v) return RG_ENOMEM;
    RG_TRY(grow(&m->stack, &m->stack_room, m->depth, MOST_STACK));
    m->stack[m->depth++] = v;
    return RG_OK;
}

static rg_status pop(rg_pickle **out, machine *m)
{
    if (!m->depth || m->stack[m->depth - 1]->type == RG_PICKLE_MARK)
        return rg_fail(RG_EFORMAT, "the pickle takes a value that is not there, at byte %zu",
                       (size_t)(m->at - m->begin));
    *out = m->stack[--m->depth];
    return RG_OK;
}

/* Values above the last mark, which goes. */
static rg_status pop_to_mark(rg_pickle ***out, size_t *out_count, machine *m)
{
    size_t at = m->depth;
    while (at && m->stack[at - 1]->type != RG_PICKLE_MARK) at--;
    if (!at) return rg_fail(RG_EFORMAT, "the pickle has no mark at byte %zu", (size_t)(m->at - m->begin));
    *out = m->stack + at;
    *out_count = m->depth - at;
    m->depth = at - 1;
    return RG_OK;
}

static rg_status take(uint64_t *out, machine *m, size_t bytes)
{
    if ((size_t)(m->end - m->at) < bytes) return cut_short(m);
    *out = 0;
    for (size_t i = 0; i < bytes; i++) *out |= (uint64_t)m->at[i] << 8 * i;
    m->at += bytes;
    return RG_OK;
}

static rg_status append(machine *m, rg_pickle *to, rg_pickle *const *item, size_t count)
{
    if (to->count + count > to->room) {
        size_t room = 2 * (to->count + count);
        rg_pickle **more = rg_arena_get(m->arena, room * sizeof(rg_pickle *));
        if (!more) return RG_ENOMEM;
        if (to->count) memcpy(more, to->item, to->count * sizeof(rg_pickle *));
        to->item = more;
        to->room = room;
    }
    if (count) memcpy(to->item + to->count, item, count * sizeof(rg_pickle *));
    to->count += count;
    return RG_OK;
}

static rg_status push_list(machine *m, rg_pickle *const *item, size_t count)
{
    rg_pickle *list = new_value(m, RG_PICKLE_LIST);
    if (!list) return RG_ENOMEM;
    RG_TRY(append(m, list, item, count));
    return push(m, list);
}

static rg_status push_number(machine *m, rg_pickle_type type, int64_t integer, double real)
{
    rg_pickle *v = new_value(m, type);
    if (!v) return RG_ENOMEM;
    v->integer = integer;
    v->real = real;
    return push(m, v);
}

static rg_status push_text(machine *m, uint64_t bytes)
{
    rg_pickle *v = new_value(m, RG_PICKLE_TEXT);
    if ((uint64_t)(m->end - m->at) < bytes) return cut_short(m);
    if (memchr(m->at, '\0', (size_t)bytes) || !rg_utf8_check((const char *)m->at, (size_t)bytes, NULL))
        return rg_fail(RG_EFORMAT, "a text of the pickle, at byte %zu, is not UTF-8 or has a zero byte",
                       (size_t)(m->at - m->begin));
    char *copy = v ? rg_arena_get(m->arena, (size_t)bytes + 1) : NULL;
    if (!copy) return RG_ENOMEM;
    memcpy(copy, m->at, (size_t)bytes);
    copy[bytes] = '\0';
    m->at += bytes;
    v->text = copy;
    return push(m, v);
}

static rg_status memoize(machine *m, uint64_t index)
{
    if (!m->depth) return cut_short(m);
    if (index >= MOST_MEMO) return rg_fail(RG_ELIMIT, "a pickle that remembers more than %d values", MOST_MEMO);
    while (m->memos <= index) {
        if (index > m->memos + (uint64_t)(m->end - m->begin))
            return rg_fail(RG_EFORMAT, "a pickle that remembers value %llu", (unsigned long long)index);
        RG_TRY(grow(&m->memo, &m->memo_room, m->memos, MOST_MEMO));
        m->memo[m->memos++] = NULL;
    }
    m->memo[index] = m->stack[m->depth - 1];
    return RG_OK;
}

static rg_status recall(machine *m, uint64_t index)
{
    if (index >= m->memos || !m->memo[index])
        return rg_fail(RG_EFORMAT, "a pickle that recalls value %llu, which it did not store",
                       (unsigned long long)index);
    return push(m, m->memo[index]);
}

/* -------------------------------------------------------------------------------------------------- names and calls */

static rg_status push_name(machine *m, const char *module, size_t module_bytes, const char *name, size_t bytes)
{
    for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++)
        if (strlen(allowed[i].module) == module_bytes && memcmp(allowed[i].module, module, module_bytes) == 0 &&
            strlen(allowed[i].name) == bytes && memcmp(allowed[i].name, name, bytes) == 0)
            return push_number(m, RG_PICKLE_NAME, (int64_t)i, 0);
    return rg_fail(RG_EFORMAT,
                   "the pickle wants %.*s.%.*s, which is not what a file of weights needs; nothing of it was run",
                   (int)(module_bytes < 60 ? module_bytes : 60), module, (int)(bytes < 60 ? bytes : 60), name);
}

/* Two lines of text: module and name. */
static rg_status name_of_lines(machine *m)
{
    const char *text[2];
    size_t      bytes[2];
    for (int i = 0; i < 2; i++) {
        const unsigned char *lf = memchr(m->at, '\n', (size_t)(m->end - m->at));
        if (!lf) return cut_short(m);
        text[i] = (const char *)m->at;
        bytes[i] = (size_t)(lf - m->at);
        m->at = lf + 1;
    }
    return push_name(m, text[0], bytes[0], text[1], bytes[1]);
}

static rg_status name_of_stack(machine *m)
{
    rg_pickle *name = NULL, *module = NULL;
    RG_TRY(pop(&name, m));
    RG_TRY(pop(&module, m));
    if (name->type != RG_PICKLE_TEXT || module->type != RG_PICKLE_TEXT)
        return rg_fail(RG_EFORMAT, "the pickle names a thing by no text");
    return push_name(m, module->text, strlen(module->text), name->text, strlen(name->text));
}

static bool read_sizes(size_t *out, size_t *out_count, const rg_pickle *list)
{
    if (list->type != RG_PICKLE_LIST || list->count > RG_PICKLE_DIMS) return false;
    *out_count = list->count;
    for (size_t i = 0; i < list->count; i++) {
        if (list->item[i]->type != RG_PICKLE_INT || list->item[i]->integer < 0) return false;
        out[i] = (size_t)list->item[i]->integer;
    }
    return true;
}

/* _rebuild_tensor_v2(storage, offset, size, stride, requires_grad, hooks) */
static rg_status rebuild(machine *m, const rg_pickle *args)
{
    rg_pickle *t = new_value(m, RG_PICKLE_TENSOR);
    size_t     strides;
    if (!t) return RG_ENOMEM;
    if (args->count < 4 || args->item[0]->type != RG_PICKLE_STORAGE || args->item[1]->type != RG_PICKLE_INT ||
        args->item[1]->integer < 0 || !read_sizes(t->dims, &t->ndim, args->item[2]) ||
        !read_sizes(t->strides, &strides, args->item[3]) || strides != t->ndim)
        return rg_fail(RG_EFORMAT, "the pickle puts a tensor together of what is none");
    t->integer = args->item[1]->integer;
    RG_TRY(append(m, t, args->item, 1));
    return push(m, t);
}

static rg_status reduce(machine *m)
{
    rg_pickle *args = NULL, *name = NULL;
    RG_TRY(pop(&args, m));
    RG_TRY(pop(&name, m));
    if (name->type != RG_PICKLE_NAME || args->type != RG_PICKLE_LIST)
        return rg_fail(RG_EFORMAT, "the pickle calls what is not a name");
    switch (allowed[name->integer].means) {
    case ORDERED_DICT: return push(m, new_value(m, RG_PICKLE_DICT));
    case REBUILD_TENSOR: return rebuild(m, args);
    case REBUILD_PARAMETER:
        if (!args->count || args->item[0]->type != RG_PICKLE_TENSOR) break;
        return push(m, args->item[0]);
    case STORAGE: break;
    }
    return rg_fail(RG_EFORMAT, "the pickle calls %s.%s with what it does not take", allowed[name->integer].module,
                   allowed[name->integer].name);
}

/* ("storage", type, key, place, how many numbers) */
static rg_status persistent(machine *m)
{
    rg_pickle *id = NULL, *s = new_value(m, RG_PICKLE_STORAGE);
    RG_TRY(pop(&id, m));
    if (!s) return RG_ENOMEM;
    if (id->type != RG_PICKLE_LIST || id->count != 5 || id->item[1]->type != RG_PICKLE_NAME ||
        allowed[id->item[1]->integer].means != STORAGE || id->item[2]->type != RG_PICKLE_TEXT ||
        id->item[4]->type != RG_PICKLE_INT || id->item[4]->integer < 0)
        return rg_fail(RG_EFORMAT, "the pickle refers to data that are no storage of PyTorch's");
    s->dtype = allowed[id->item[1]->integer].dtype;
    s->text = id->item[2]->text;
    s->integer = id->item[4]->integer;
    return push(m, s);
}

/* ----------------------------------------------------------------------------------------------------- instructions */

static rg_status add_items(machine *m, bool dict)
{
    rg_pickle **item = NULL;
    size_t      count = 0;
    RG_TRY(pop_to_mark(&item, &count, m));
    if (!m->depth || m->stack[m->depth - 1]->type != (dict ? RG_PICKLE_DICT : RG_PICKLE_LIST) || (dict && count % 2))
        return rg_fail(RG_EFORMAT, "the pickle adds to what is no %s", dict ? "dictionary" : "list");
    return append(m, m->stack[m->depth - 1], item, count);
}

static rg_status add_item(machine *m, bool dict)
{
    const size_t n = dict ? 2 : 1;
    if (m->depth < n + 1 || m->stack[m->depth - n - 1]->type != (dict ? RG_PICKLE_DICT : RG_PICKLE_LIST))
        return rg_fail(RG_EFORMAT, "the pickle adds to what is no %s", dict ? "dictionary" : "list");
    m->depth -= n;
    return append(m, m->stack[m->depth - 1], m->stack + m->depth, n);
}

static rg_status tuple(machine *m, size_t n)
{
    if (m->depth < n) return cut_short(m);
    m->depth -= n;
    return push_list(m, m->stack + m->depth, n);
}

static rg_status tuple_to_mark(machine *m)
{
    rg_pickle **item = NULL;
    size_t      count = 0;
    RG_TRY(pop_to_mark(&item, &count, m));
    return push_list(m, item, count);
}

static rg_status binary_real(machine *m)
{
    uint64_t bits = 0;
    double   value;
    if (m->end - m->at < 8) return cut_short(m);
    for (int i = 0; i < 8; i++) bits = bits << 8 | m->at[i]; /* big endian */
    m->at += 8;
    memcpy(&value, &bits, sizeof value);
    return push_number(m, RG_PICKLE_REAL, 0, value);
}

static rg_status long_integer(machine *m)
{
    uint64_t bytes = 0, bits = 0;
    RG_TRY(take(&bytes, m, 1));
    if (bytes > 8) return rg_fail(RG_ELIMIT, "the pickle has an integer of %llu bytes", (unsigned long long)bytes);
    RG_TRY(take(&bits, m, (size_t)bytes));
    if (bytes && bytes < 8 && bits >> (8 * bytes - 1)) bits |= UINT64_MAX << 8 * bytes; /* its sign */
    return push_number(m, RG_PICKLE_INT, (int64_t)bits, 0);
}

static rg_status ignore(machine *m, size_t values)
{
    rg_pickle *v;
    while (values--) RG_TRY(pop(&v, m));
    return RG_OK;
}

static rg_status instruction(machine *m, unsigned char op)
{
    uint64_t n = 0;
    switch (op) {
    case 0x80: return take(&n, m, 1);                                                      /* protocol */
    case 0x95: return take(&n, m, 8);                                                      /* frame */
    case 'N': return push_number(m, RG_PICKLE_NONE, 0, 0);
    case 0x88: case 0x89: return push_number(m, RG_PICKLE_BOOL, op == 0x88, 0);
    case 'K': RG_TRY(take(&n, m, 1)); return push_number(m, RG_PICKLE_INT, (int64_t)n, 0);
    case 'M': RG_TRY(take(&n, m, 2)); return push_number(m, RG_PICKLE_INT, (int64_t)n, 0);
    case 'J': RG_TRY(take(&n, m, 4)); return push_number(m, RG_PICKLE_INT, (int32_t)(uint32_t)n, 0);
    case 0x8a: return long_integer(m);
    case 'G': return binary_real(m);
    case 0x8c: case 'U': RG_TRY(take(&n, m, 1)); return push_text(m, n);
    case 'X': case 'T': RG_TRY(take(&n, m, 4)); return push_text(m, n);
    case ']': case ')': return push_list(m, NULL, 0);
    case '}': return push(m, new_value(m, RG_PICKLE_DICT));
    case '(': return push(m, new_value(m, RG_PICKLE_MARK));
    case 't': return tuple_to_mark(m);
    case 0x85: case 0x86: case 0x87: return tuple(m, (size_t)(op - 0x84));
    case 'a': case 's': return add_item(m, op == 's');
    case 'e': case 'u': return add_items(m, op == 'u');
    case 'q': RG_TRY(take(&n, m, 1)); return memoize(m, n);
    case 'r': RG_TRY(take(&n, m, 4)); return memoize(m, n);
    case 0x94: return memoize(m, m->memos);
    case 'h': RG_TRY(take(&n, m, 1)); return recall(m, n);
    case 'j': RG_TRY(take(&n, m, 4)); return recall(m, n);
    case 'c': return name_of_lines(m);
    case 0x93: return name_of_stack(m);
    case 'R': return reduce(m);
    case 'Q': return persistent(m);
    case 'b': /* attributes of a dictionary or parameter */
    case '0': return ignore(m, 1);
    case '.': return pop(&m->result, m);
    default:
        return rg_fail(RG_EFORMAT,
                       "the pickle has instruction 0x%02X at byte %zu, which a file of weights does not need; nothing "
                       "of it was run",
                       op, (size_t)(m->at - m->begin) - 1);
    }
}

rg_status rg_pickle_read(const rg_pickle **out, rg_arena *arena, const unsigned char *bytes, size_t count)
{
    machine   m = { .arena = arena, .at = bytes, .begin = bytes, .end = bytes + count };
    rg_status status = RG_OK;
    while (status == RG_OK && !m.result) status = m.at < m.end ? instruction(&m, *m.at++) : cut_short(&m);
    rg_free(m.stack);
    rg_free(m.memo);
    *out = m.result;
    return status;
}
