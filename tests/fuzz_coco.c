/* fuzz_coco.c - any bytes as a file of COCO captions (P1, P2). */
#include "support/fuzz_reader.h"

FUZZ_READER(
    "coco", "picture", "caption",
    "{\"images\":[{\"id\":9,\"file_name\":\"a.jpg\"}],\"annotations\":[{\"image_id\":9,\"caption\":\"a dog\"}]}\n",
    "{\"images\":[],\"annotations\":[{\"image_id\":1,\"caption\":\"x\"}]}",
    "{\"images\":[{\"id\":1,\"file_name\":\"a\"},{\"id\":1,\"file_name\":\"b\"}],\"annotations\":[]}", "[[[[[[",
    "{\"images\":{},\"annotations\":3}")
