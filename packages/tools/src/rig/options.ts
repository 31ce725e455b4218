import type { Naming } from '@gpunvme/layer-loader/formats'
import type { HardwareOptions } from '../drive/hardware-transport.js'
import type { QtestOptions } from '../drive/qtest-transport.js'
import type { SimOptions } from '../drive/sim-transport.js'
import type { VfioUserOptions } from '../drive/vfio-user-transport.js'
import type { EngineName } from '../drive/by-name.js'

/** A drive: the PCI address or Linux name of a real one, or a transport with options of `openTransport`. */
export type RigDrive =
  | string
  | ({ readonly transport: 'sim' } & SimOptions)
  | ({ readonly transport: 'qtest' } & QtestOptions)
  | ({ readonly transport: 'sysfs' | 'vfio' | 'kmod' } & HardwareOptions)
  | ({ readonly transport: 'vfio-user' } & VfioUserOptions)

/** Progress of a stage of `openRig` that moves data. */
export interface RigProgress {
  /** 'packing': writing the model file to a simulated drive. 'loading': reading resident layers. */
  readonly stage: 'packing' | 'loading'
  readonly doneBytes: number
  readonly totalBytes: number
}

/** Options of opening a model from any source. */
export interface ComposeOptions {
  /**
   * The model. On a drive: its name in the image, or a model file with the same tensors; optional if the image has one
   * model. With `inPlace`: the path of its file in the drive's file system. Without a drive: a path or an https URL.
   * With a simulated drive in memory: a model file, which is packed onto that drive first.
   */
  readonly model?: string
  /**
   * Loads a GGUF or safetensors file from an ext4, FAT32 or exFAT file system on the drive, which must not be mounted.
   */
  readonly inPlace?: boolean
  /**
   * How layers and experts are found in a model file. Default: by all published schemes. A model in an image keeps the
   * layers that it was packed with.
   */
  readonly naming?: Naming
  /**
   * Engine that submits the commands. Default: `cuda` with a GPU, otherwise `host`. If the GPU's doorbells do not arrive, a
   * thread of the CPU writes them. If the GPU cannot access the queues, the default is `host`.
   */
  readonly engine?: EngineName
  /** CUDA's number of the GPU, or 'none' to use host memory in its place. Default: GPU 0 if there is one. */
  readonly gpu?: number | 'none'
  /** The highest tier to use. Default: 2. A tier is used only after its probe has passed. */
  readonly tier?: 1 | 2 | 3
  /**
   * Allows the controller to read GPU memory, as tier 3 requires. On some machines, such reads take the drive off the
   * bus.
   */
  readonly allowPeerReads?: boolean
  /**
   * Also tries to map GPU memory through the static window of NVIDIA's driver in BAR1, with the open driver 565.77 or newer,
   * but not through the module gpunvme if an IOMMU translates. Needs root. Only this process keeps the memory allocated
   * while the drive writes to it. Has not run on a GPU. Default: false.
   */
  readonly staticBar1?: boolean
  /**
   * GPU memory to use, in bytes. Default: three quarters of the GPU's. Without a GPU: host memory to copy layers to; by
   * default none, and layers are used where they were read to.
   */
  readonly vram?: number
  /** Host memory to use, in bytes. Default: half of the machine's. */
  readonly ram?: number
  /** False skips all checksums. */
  readonly verify?: boolean
  /** I/O queue pairs of each drive. Default: 1. */
  readonly queues?: number
  /** Commands in flight per queue pair. Default: 32. */
  readonly queueDepth?: number
  /** Namespace ID. Default: the first active one. */
  readonly nsid?: number
  /** Called as layers are loaded. */
  readonly onProgress?: (progress: RigProgress) => void
  /** Aborts opening, and later all passes. */
  readonly signal?: AbortSignal
}

export interface RigOptions extends ComposeOptions {
  /** The drives with the model; several are members of a stripe or mirror. Without drives, `model` is a file. */
  readonly drives?: readonly RigDrive[]
  /** A simulated drive, short for `drives: [{ transport: 'sim', … }]`. */
  readonly sim?: SimOptions
}
