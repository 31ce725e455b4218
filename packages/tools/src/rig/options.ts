import type { HardwareOptions } from '../drive/hardware-transport.js'
import type { QtestOptions } from '../drive/qtest-transport.js'
import type { SimOptions } from '../drive/sim-transport.js'
import type { VfioUserOptions } from '../drive/vfio-user-transport.js'
import type { EngineName } from '../drive/by-name.js'

/** A drive: the PCI address or Linux name of a real one, or a transport with the options of `openTransport`. */
export type RigDrive =
  | string
  | ({ readonly transport: 'sim' } & SimOptions)
  | ({ readonly transport: 'qtest' } & QtestOptions)
  | ({ readonly transport: 'sysfs' | 'vfio' | 'kmod' } & HardwareOptions)
  | ({ readonly transport: 'vfio-user' } & VfioUserOptions)

/** A stage of `openRig` that moves bytes. */
export interface RigProgress {
  /** 'packing': writing the model file to a simulated drive. 'loading': reading the layers that stay in memory. */
  readonly stage: 'packing' | 'loading'
  readonly doneBytes: number
  readonly totalBytes: number
}

/** How a model is opened, whatever it lies on. */
export interface ComposeOptions {
  /**
   * The model. On a drive: its name in the image, or a model file with the same tensors; not needed if the image holds one
   * model. With `inPlace`: the path of its file in the drive's file system. Without a drive: a path or an https URL. With
   * a simulated drive in memory: a model file, which is packed onto that drive first.
   */
  readonly model?: string
  /** Loads a GGUF or safetensors file from the ext4, FAT32 or exFAT on the drive, which must not be mounted. */
  readonly inPlace?: boolean
  /** Submits the commands; by default `cuda` if a GPU can ring the doorbells, otherwise `host`. */
  readonly engine?: EngineName
  /** CUDA's number of the GPU, or 'none': host memory takes its place. Default: GPU 0 if there is one. */
  readonly gpu?: number | 'none'
  /** The highest tier to use; 2 by default. A tier is used only after its probe has passed. */
  readonly tier?: 1 | 2 | 3
  /** Lets the controller read GPU memory, which tier 3 needs. On some machines such reads take the drive off the bus. */
  readonly allowPeerReads?: boolean
  /**
   * GPU memory to use, in bytes; three quarters of the GPU's by default. Without a GPU: host memory to use in its place,
   * which layers are copied to; by default none, and layers are computed on where they were read to.
   */
  readonly vram?: number
  /** Host memory to use, in bytes; half of the host's by default. */
  readonly ram?: number
  /** False skips all checksums. */
  readonly verify?: boolean
  /** I/O queue pairs of each drive; 1 by default. */
  readonly queues?: number
  /** Commands in flight on each queue pair; 32 by default. */
  readonly queueDepth?: number
  /** Namespace ID; the first active one by default. */
  readonly nsid?: number
  readonly onProgress?: (progress: RigProgress) => void
  /** Aborts opening, and later every pass. */
  readonly signal?: AbortSignal
}

export interface RigOptions extends ComposeOptions {
  /** The drives that hold the model; several are the members of a stripe or a mirror. None: `model` is a file. */
  readonly drives?: readonly RigDrive[]
  /** A simulated drive, short for `drives: [{ transport: 'sim', … }]`. */
  readonly sim?: SimOptions
}
