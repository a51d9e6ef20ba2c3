/* small_recipe.h - the small instance of any system, for tests that walk the table. */
#ifndef TESTS_SUPPORT_SMALL_RECIPE_H
#define TESTS_SUPPORT_SMALL_RECIPE_H

#include "regard/task.h"

/* Data are written below `folder`; `more` is read behind all other settings. Fails the test where that cannot be. */
rg_recipe *small_recipe(const rg_system *system, const char *folder, const char *more);

#endif
