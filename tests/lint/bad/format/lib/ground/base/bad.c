// SPDX-License-Identifier: GPL-2.0-only
int bad(int value)
{
    if (value) { return 1; }
    return 0;
}
