# SPDX-License-Identifier: LGPL-2.1-or-later
"""Builds the module against an installed libweft, which pkg-config finds. One build serves all Pythons since 3.9."""
import glob
import subprocess

from setuptools import Extension, setup


def flags(what):
    return subprocess.run(["pkg-config", what, "weft"], check=True, stdout=subprocess.PIPE, text=True).stdout.split()


setup(
    ext_modules=[
        Extension(
            "weft",
            sorted(glob.glob("*.c")),
            depends=["python_weft.h"],
            include_dirs=["../.."],
            extra_compile_args=["-std=gnu17", "-fvisibility=hidden", *flags("--cflags")],
            extra_link_args=flags("--libs"),
            py_limited_api=True,
        )
    ],
    data_files=[("", ["weft.pyi"])],
    options={"bdist_wheel": {"py_limited_api": "cp39"}},
)
