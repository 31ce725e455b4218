import type { Known } from '../machine/known.js'

/**
 * State of NVIDIA's driver according to the files of a machine, all read, none guessed. `undefined` means absent; an
 * unknown value has a reason (`Known`). Paths are those on the machine, without its root.
 */
export interface NvidiaDriver {
  /** Release of the running kernel: '6.12.43+deb13-amd64'. Modules of other kernels are listed too. */
  readonly kernel: Known<string>
  /** Undefined if the module is not loaded. */
  readonly running: Known<RunningModule | undefined>
  /** Loaded modules that are bound to NVIDIA GPUs instead: 'nouveau', 'nova_core'. */
  readonly conflictingModules: Known<readonly string[]>
  /** All nvidia.ko below /lib/modules, those of the running kernel first. */
  readonly onDisk: Known<readonly DiskModule[]>
  /** Initramfs of each kernel with a module on disk, and of the running kernel. */
  readonly initramfs: readonly Initramfs[]
  /** Source trees below /usr/src, and those that DKMS links to elsewhere. */
  readonly trees: readonly SourceTree[]
  readonly dkms: readonly DkmsBuild[]
  readonly options: DriverOptions
  /** Exports of each kernel with a module on disk, and of the running kernel. */
  readonly kernels: readonly KernelExports[]
  readonly staticBar1: StaticBar1
  readonly gpus: readonly NvidiaGpu[]
  /** Undefined if no library is installed. */
  readonly libcuda: Known<Libcuda | undefined>
  /** Contradictions, one sentence each. */
  readonly mismatches: readonly Mismatch[]
}

/** Open: dual MIT/GPL, may call GPL-only kernel functions. Both flavours have the same version numbers. */
export type Flavour = 'open' | 'proprietary'

/**
 * How a module finds the physical page behind a mapping of device registers, which CUDA needs to register BAR0: a
 * kernel function; the page-table walk or guarded formula that `driver apply` adds, by their mark; or none, so that
 * registration always fails.
 */
export type PfnLookup =
  | 'follow_pfnmap_start'
  | 'follow_pte'
  | 'follow_pfn'
  | 'unsafe_follow_pfn'
  | 'page-table-walk'
  | 'guarded-vm_pgoff'
  | 'none'

export interface RunningModule {
  /** '580.142'. */
  readonly version: Known<string>
  readonly flavour: Known<Flavour>
  /** Files with the version. */
  readonly sources: readonly string[]
  /** Checksum of its sources, also shown by modinfo for a file; undefined if the kernel does not keep it. */
  readonly srcversion: string | undefined
  /** Number of references; zero if it can be unloaded. */
  readonly references: Known<number>
  /** 'P' proprietary, 'O' out of tree, 'E' unsigned. */
  readonly taints: Known<string>
}

export interface DiskModule {
  readonly kernel: string
  /** '/lib/modules/6.12.43+deb13-amd64/updates/dkms/nvidia.ko.xz'. */
  readonly path: string
  readonly compression: 'none' | 'xz' | 'zstd' | 'gzip'
  /** Unknown if the file cannot be read, unpacked or parsed. */
  readonly contents: Known<ModuleContents>
}

export interface ModuleContents {
  readonly version: string | undefined
  readonly license: string | undefined
  readonly flavour: Known<Flavour>
  readonly srcversion: string | undefined
  /** Release of the kernel that it was built for: '6.12.43+deb13-amd64'. */
  readonly vermagicRelease: string | undefined
  readonly pfnLookup: PfnLookup
  /** Mark by `driver apply`: 'pfn-walk/1'; undefined for unchanged sources. */
  readonly mark: string | undefined
  /** Signer; undefined without a signature. Secure Boot requires that the key is enrolled. */
  readonly signer: Known<string> | undefined
}

export interface Initramfs {
  readonly kernel: string
  readonly path: string
  /** The nvidia.ko in it; undefined if there is none, so that the one on disk is loaded. */
  readonly module: Known<Pick<ModuleContents, 'version' | 'flavour' | 'srcversion' | 'mark'> | undefined>
}

/** Interface sources and NVIDIA's object code (a distribution's DKMS tree), or complete sources (NVIDIA's release). */
export type TreeKind = 'open-interface+binary' | 'proprietary-interface+binary' | 'full-source'

export interface SourceTree {
  /** '/usr/src/nvidia-580.142'. */
  readonly path: string
  readonly version: Known<string>
  readonly kind: Known<TreeKind>
  /** Shape of its PFN lookup, by hashes of its functions; unknown if no table has it. */
  readonly pfnShape: Known<PfnShape>
  /** Changes by `driver apply`. */
  readonly applied: readonly string[]
}

/** The lookup in os-mlock.c: the preferred function, and the fallback if the kernel has none. */
export type PfnShape =
  | 'follow_pfn-only'
  | 'follow_pfn-or-fail'
  | 'follow_pte-or-fail'
  | 'follow_pfnmap-or-fail'
  | 'page-table-walk'
  | 'guarded-vm_pgoff'

/** A line of `dkms status`. */
export interface DkmsBuild {
  /** DKMS's name of the module: 'nvidia', 'nvidia-current', 'nvidia-open'. */
  readonly name: string
  readonly version: string
  /** Undefined for a tree that was only added. */
  readonly kernel: string | undefined
  readonly architecture: string | undefined
  readonly state: 'added' | 'built'
  /** Location of its sources, by the link. */
  readonly source: string | undefined
}

export interface DriverOptions {
  /** From /proc/driver/nvidia/params; undefined if the module is not loaded. 'EnableResizableBar' without NVreg_. */
  readonly running: Known<Readonly<Record<string, string>> | undefined>
  /** RegistryDwords of the running module, as a table. */
  readonly runningRegistry: Readonly<Record<string, number>>
  /** From modprobe.d and the kernel command line, in order of precedence; the last one wins. */
  readonly configured: readonly ConfiguredOption[]
  readonly configuredRegistry: Readonly<Record<string, number>>
}

export interface ConfiguredOption {
  readonly file: string
  /** 'NVreg_EnableResizableBar'. */
  readonly name: string
  readonly value: string
}

/** Exports that the conftest of the driver's build looks for, from a kernel's Module.symvers. */
export interface KernelExports {
  readonly release: string
  /** The kernel functions among `PfnLookup`; 'GPL' if only GPL modules may call it. */
  readonly exports: Known<Readonly<Partial<Record<PfnLookup, 'any' | 'GPL'>>>>
}

/** Whether GPU memory is accessible through BAR1 at fixed addresses in the running version. */
export interface StaticBar1 {
  /**
   * on, off: set by a registry key. auto: enabled by this version if BAR1 covers all memory. p2p-only: available only
   * between GPUs. none: not in this version.
   */
  readonly state: Known<'on' | 'off' | 'auto' | 'p2p-only' | 'none'>
  /** The version or key that causes it, as a sentence. */
  readonly reason: string
}

export interface NvidiaGpu {
  /** '0000:0b:00.0'. */
  readonly address: string
  /** 'NVIDIA GeForce RTX 3090'. */
  readonly model: Known<string>
  /** 'GPU-8d7f…'; undefined before the first use. */
  readonly uuid: string | undefined
  readonly minor: number | undefined
  readonly videoBios: string | undefined
}

export interface Libcuda {
  /** '/usr/lib/x86_64-linux-gnu/libcuda.so.580.142'. */
  readonly path: string
  /** From its file name. Unknown if there is only the link libcuda.so.1, which leads out of the copied tree. */
  readonly version: Known<string>
}

export interface Mismatch {
  readonly kind:
    | 'running-and-disk'
    | 'running-and-initramfs'
    | 'disk-and-initramfs'
    | 'running-and-libcuda'
    | 'running-and-configured'
    | 'flavours'
    | 'several-trees'
    | 'several-modules'
    | 'mark-lost'
  readonly text: string
}
