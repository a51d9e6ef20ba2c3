/* classify_demo_pictures.h - data of the demos of pictures, and FOLDER/shown.png, which is asked about. */
#ifndef RG_TASKS_CLASSIFY_DEMO_PICTURES_H
#define RG_TASKS_CLASSIFY_DEMO_PICTURES_H

#include "tasks/classify.h"

rg_status rg_demo_cam(rg_text *yaml, const char *folder, rg_small_size size);
rg_status rg_demo_stn(rg_text *yaml, const char *folder, rg_small_size size);
rg_status rg_demo_grid(rg_text *yaml, const char *folder, rg_small_size size);
rg_status rg_demo_ram(rg_text *yaml, const char *folder, rg_small_size size);

#endif
