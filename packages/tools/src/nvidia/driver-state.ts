import type { Known } from '../machine/known.js'

/**
 * What the files of a machine say of NVIDIA's driver: plain data, read only, nothing guessed. `undefined` means that
 * there is none; what could not be learnt says why (`Known`). Paths are as on the machine itself, without its root.
 */
export interface NvidiaDriver {
  /** Of the kernel that runs: '6.12.43+deb13-amd64'. Modules of other kernels are listed too. */
  readonly kernel: Known<string>
  /** Undefined where the module is not loaded. */
  readonly running: Known<RunningModule | undefined>
  /** Loaded modules that drive NVIDIA GPUs in its place: 'nouveau', 'nova_core'. */
  readonly rivals: Known<readonly string[]>
  /** Every nvidia.ko below /lib/modules, those of the running kernel first. */
  readonly onDisk: Known<readonly DiskModule[]>
  /** The initramfs of each kernel that has a module on disk or runs. */
  readonly initramfs: readonly Initramfs[]
  /** Source trees below /usr/src, and those that DKMS links to elsewhere. */
  readonly trees: readonly SourceTree[]
  readonly dkms: readonly DkmsBuild[]
  readonly options: DriverOptions
  /** Of each kernel that has a module on disk or runs: what the driver's build can find in it. */
  readonly kernels: readonly KernelExports[]
  readonly staticBar1: StaticBar1
  readonly gpus: readonly NvidiaGpu[]
  /** Undefined where no library is installed. */
  readonly libcuda: Known<Libcuda | undefined>
  /** What disagrees with what, each a sentence of its own. */
  readonly mismatches: readonly Mismatch[]
}

/** Open: dual MIT/GPL, may call GPL-only functions of the kernel. Both flavours have the same version numbers. */
export type Flavour = 'open' | 'proprietary'

/**
 * What a module calls to find the physical page behind a mapping of a device's registers, which is what registering
 * BAR0 with CUDA needs: a function of the kernel's; our page-table walk or our guarded formula, by the mark that
 * `driver apply` leaves; or nothing, in which case every registration fails.
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
  /** The files that say so. */
  readonly sources: readonly string[]
  /** Checksum of its sources, which modinfo shows of a file too; undefined where the kernel keeps none. */
  readonly srcversion: string | undefined
  /** What refers to it: zero when it could be unloaded. */
  readonly references: Known<number>
  /** 'P' proprietary, 'O' out of tree, 'E' unsigned. */
  readonly taints: Known<string>
}

export interface DiskModule {
  readonly kernel: string
  /** '/lib/modules/6.12.43+deb13-amd64/updates/dkms/nvidia.ko.xz'. */
  readonly path: string
  readonly compression: 'none' | 'xz' | 'zstd' | 'gzip'
  /** What is in it; unknown where it cannot be read, unpacked or understood. */
  readonly contents: Known<ModuleContents>
}

export interface ModuleContents {
  readonly version: string | undefined
  readonly license: string | undefined
  readonly flavour: Known<Flavour>
  readonly srcversion: string | undefined
  /** Of the kernel that it was built for: '6.12.43+deb13-amd64'. */
  readonly vermagicRelease: string | undefined
  readonly pfnLookup: PfnLookup
  /** What `driver apply` put into it: 'pfn-walk/1'; undefined of a module that is not of such sources. */
  readonly mark: string | undefined
  /** Who signed it; undefined of one without a signature. Secure Boot loads it only if that key is enrolled. */
  readonly signer: Known<string> | undefined
}

export interface Initramfs {
  readonly kernel: string
  readonly path: string
  /** Of the nvidia.ko in it; undefined where there is none in it, so that the one on disk is loaded. */
  readonly module: Known<Pick<ModuleContents, 'version' | 'flavour' | 'srcversion' | 'mark'> | undefined>
}

/** Interface sources and NVIDIA's object code (a distribution's DKMS tree), or everything (NVIDIA's own release). */
export type TreeKind = 'open-interface+binary' | 'proprietary-interface+binary' | 'full-source'

export interface SourceTree {
  /** '/usr/src/nvidia-580.142'. */
  readonly path: string
  readonly version: Known<string>
  readonly kind: Known<TreeKind>
  /** The shape of its PFN look-up, by hash of the two functions; unknown for one that no table lists. */
  readonly pfnShape: Known<PfnShape>
  /** Whether `driver apply` has changed it, and what. */
  readonly applied: readonly string[]
}

/** The look-up in os-mlock.c: what is tried first, and what is left when the kernel has none of it. */
export type PfnShape =
  | 'follow_pfn-only'
  | 'follow_pfn-or-fail'
  | 'follow_pte-or-fail'
  | 'follow_pfnmap-or-fail'
  | 'page-table-walk'
  | 'guarded-vm_pgoff'

/** One line of `dkms status`. */
export interface DkmsBuild {
  /** DKMS's name of the module: 'nvidia', 'nvidia-current', 'nvidia-open'. */
  readonly name: string
  readonly version: string
  /** Undefined of a tree that was only added. */
  readonly kernel: string | undefined
  readonly architecture: string | undefined
  readonly state: 'added' | 'built'
  /** Where its sources are, as far as the link says. */
  readonly source: string | undefined
}

export interface DriverOptions {
  /** From /proc/driver/nvidia/params; undefined where the module is not loaded. 'EnableResizableBar' without NVreg_. */
  readonly running: Known<Readonly<Record<string, string>> | undefined>
  /** RegistryDwords as a table, of the running module. */
  readonly runningRegistry: Readonly<Record<string, number>>
  /** From modprobe.d and the kernel's command line, in the order in which they count; the last one wins. */
  readonly configured: readonly ConfiguredOption[]
  readonly configuredRegistry: Readonly<Record<string, number>>
}

export interface ConfiguredOption {
  readonly file: string
  /** 'NVreg_EnableResizableBar'. */
  readonly name: string
  readonly value: string
}

/** What the conftest of the driver's build looks for, in a kernel's Module.symvers. */
export interface KernelExports {
  readonly release: string
  /** Of the names in `PfnLookup` that are functions of the kernel; 'GPL' where only GPL modules may call it. */
  readonly exports: Known<Readonly<Partial<Record<PfnLookup, 'any' | 'GPL'>>>>
}

/** Whether GPU memory is reachable through BAR1 at fixed addresses, as the running version decides it. */
export interface StaticBar1 {
  /**
   * on, off: a registry key says so. auto: this version turns it on where BAR1 holds all of the memory.
   * p2p-only: there, but only between GPUs. none: this version does not have it.
   */
  readonly state: Known<'on' | 'off' | 'auto' | 'p2p-only' | 'none'>
  /** In a sentence: which version or key makes it so. */
  readonly because: string
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
  /** From its name. Unknown where only the link libcuda.so.1 is there, which leads out of the tree. */
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
