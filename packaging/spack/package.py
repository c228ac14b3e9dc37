# Spack recipe: `spack repo add` a repository that has this file as packages/libsolver/package.py.
# SPDX-License-Identifier: BSD-3-Clause
from spack.package import *
from spack_repo.builtin.build_systems.cuda import CudaPackage
from spack_repo.builtin.build_systems.meson import MesonPackage


class Libsolver(MesonPackage, CudaPackage):
    """Solves sparse symmetric and Hermitian systems of linear equations by Cholesky and LDL^T
    factorizations, on the CPU and on NVIDIA GPUs; each solution comes with its backward error."""

    homepage = "https://example.org/libsolver"
    git = "https://example.org/libsolver.git"

    license("BSD-3-Clause")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=True, description="a shared library; ~shared: a static one, the CUDA code inside")
    variant("metis", default=True, description="METIS's nested dissection as an option of the analysis")
    variant("doc", default=False, description="the reference as HTML")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("meson@0.61:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type="build")
    depends_on("doxygen", type="build", when="+doc")
    depends_on("suite-sparse", type=("build", "link"))
    depends_on("metis@5.1:", when="+metis")
    depends_on("zlib-api")
    depends_on("cuda@12:", when="+cuda")

    # the kernels use clusters and barriers in shared memory, which earlier devices lack
    for arch in CudaPackage.cuda_arch_values:
        if int("".join(filter(str.isdigit, arch)) or 0) < 90:
            conflicts(f"cuda_arch={arch}", when="+cuda", msg="needs compute capability 9.0 or later")

    def meson_args(self):
        archs = [a for a in self.spec.variants["cuda_arch"].value if a != "none"] if "+cuda" in self.spec else []
        return [
            "-Ddefault_library=" + ("shared" if "+shared" in self.spec else "static"),
            "-Dcuda=" + ("enabled" if "+cuda" in self.spec else "disabled"),
            "-Dgpu_arch=" + ",".join(archs or ["90"]),
            "-Dmetis=" + ("enabled" if "+metis" in self.spec else "disabled"),
            "-Dcholmod=disabled",
            "-Dapi_docs=" + ("true" if "+doc" in self.spec else "false"),
            "-Dtests=false",
        ]
