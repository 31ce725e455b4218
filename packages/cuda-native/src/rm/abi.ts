import { struct, u16, u32, u32Array, u64 } from '@gpunvme/nvme-spec/layout'

/*
 * Requests of NVIDIA's resource manager (RM), named as in its headers nvos.h, nv-ioctl.h, cl0080.h, cl2080.h and ctrl0000gpu.h,
 * in upper case and without prefixes. Sizes and offsets come from compiling the headers of 14 versions from 525 to 595.
 * Only RM_ALLOC changed among them.
 */

/** Numbers of ioctl requests: NV_ESC_… of nv_escape.h and nv-ioctl-numbers.h. */
export const ESCAPE = { ALLOC_MEMORY: 0x27, FREE: 0x29, CONTROL: 0x2a, ALLOC: 0x2b, REGISTER_FD: 201 } as const

/** Classes of objects: NV01_ROOT_CLIENT, NV01_DEVICE_0, NV20_SUBDEVICE_0, NV01_MEMORY_SYSTEM_OS_DESCRIPTOR. */
export const CLASS = { ROOT_CLIENT: 0x41, DEVICE: 0x80, SUBDEVICE: 0x2080, OS_DESCRIPTOR: 0x71 } as const

/** Controls of the root client: NV0000_CTRL_CMD_GPU_…. */
export const CONTROL = { GET_ATTACHED_IDS: 0x201, GET_ID_INFO_V2: 0x205, GET_PCI_INFO: 0x21b } as const

/** Value of unused entries of GET_ATTACHED_IDS. */
export const NO_GPU = 0xffff_ffff

/** NVOS02_FLAGS that RM requires for registers: contiguous, PCI, uncached (all 0), and MAPPING_NO_MAP. */
export const REGISTERS = 1 << 30

/** Returns the ioctl number: _IOWR of NVIDIA's letter, 'F'. */
export function requestOf(escape: number, lengthBytes: number): number {
  return ((3 << 30) | (lengthBytes << 16) | (0x46 << 8) | escape) >>> 0
}

const ALLOCATED = {
  ROOT: u32(0, 'hRoot: the client'),
  PARENT: u32(4, 'hObjectParent'),
  NEW: u32(8, 'hObjectNew: a handle chosen by the caller, or 0'),
  CLASS: u32(12, 'hClass'),
  PARAMETERS: u64(16, 'pAllocParms: an address, or 0'),
} as const

export const Alloc = struct(
  'NVOS21_PARAMETERS',
  { bytes: 32, doc: 'Creates an RM object', spec: 'vendor NVIDIA 535.54.03 nvos.h' },
  {
    ...ALLOCATED,
    PARAMETERS_SIZE: u32(24, 'paramsSize: 0 if the class determines it'),
    STATUS: u32(28, 'status'),
  },
)

/** Before 535 there was no size, and the status was in its place. */
export const Alloc525 = struct(
  'NVOS21_PARAMETERS',
  { bytes: 32, doc: 'Creates an RM object (525)', spec: 'vendor NVIDIA 525.60.11 nvos.h' },
  { ...ALLOCATED, STATUS: u32(24, 'status') },
)

export const Control = struct(
  'NVOS54_PARAMETERS',
  { bytes: 32, doc: 'Calls a control of an RM object', spec: 'vendor NVIDIA 590.48.01 nvos.h' },
  {
    CLIENT: u32(0, 'hClient'),
    OBJECT: u32(4, 'hObject'),
    COMMAND: u32(8, 'cmd'),
    FLAGS: u32(12, 'flags'),
    PARAMETERS: u64(16, 'params: an address'),
    PARAMETERS_SIZE: u32(24, 'paramsSize'),
    STATUS: u32(28, 'status'),
  },
)

/** Includes the descriptor that nv_ioctl_nvos02_parameters_with_fd adds. */
export const AllocMemory = struct(
  'NVOS02_PARAMETERS',
  { bytes: 56, doc: 'Registers memory of the caller with RM', spec: 'vendor NVIDIA 590.48.01 nvos.h' },
  {
    ROOT: u32(0, 'hRoot: the client'),
    PARENT: u32(4, 'hObjectParent: the device'),
    NEW: u32(8, 'hObjectNew'),
    CLASS: u32(12, 'hClass'),
    FLAGS: u32(16, 'flags'),
    MEMORY: u64(24, 'pMemory: address of the mapping'),
    LIMIT: u64(32, 'limit: bytes minus one'),
    STATUS: u32(40, 'status'),
    FD: u32(48, 'fd: unused without mappings'),
  },
)

export const Free = struct(
  'NVOS00_PARAMETERS',
  { bytes: 16, doc: 'Frees an RM object', spec: 'vendor NVIDIA 590.48.01 nvos.h' },
  { ROOT: u32(0, 'hRoot'), PARENT: u32(4, 'hObjectParent'), OBJECT: u32(8, 'hObjectOld'), STATUS: u32(12, 'status') },
)

export const DeviceParameters = struct(
  'NV0080_ALLOC_PARAMETERS',
  { bytes: 56, doc: 'Parameters of a device', spec: 'vendor NVIDIA 590.48.01 cl0080.h' },
  { DEVICE: u32(0, 'deviceId: its instance'), CLIENT_SHARE: u32(4, 'hClientShare') },
)

export const SubdeviceParameters = struct(
  'NV2080_ALLOC_PARAMETERS',
  { bytes: 4, doc: 'Parameters of a subdevice', spec: 'vendor NVIDIA 590.48.01 cl2080.h' },
  { SUBDEVICE: u32(0, 'subDeviceId: its index in the device') },
)

export const AttachedIds = struct(
  'NV0000_CTRL_GPU_GET_ATTACHED_IDS_PARAMS',
  { bytes: 128, doc: 'IDs of the GPUs in use', spec: 'vendor NVIDIA 590.48.01 ctrl0000gpu.h' },
  { IDS: u32Array(0, 32, 'gpuIds') },
)

export const PciInfo = struct(
  'NV0000_CTRL_GPU_GET_PCI_INFO_PARAMS',
  { bytes: 12, doc: 'PCI address of a GPU', spec: 'vendor NVIDIA 590.48.01 ctrl0000gpu.h' },
  { GPU: u32(0, 'gpuId'), DOMAIN: u32(4, 'domain'), BUS: u16(8, 'bus'), SLOT: u16(10, 'slot') },
)

export const IdInfo = struct(
  'NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS',
  { bytes: 32, doc: 'Device instance of a GPU', spec: 'vendor NVIDIA 590.48.01 ctrl0000gpu.h' },
  { GPU: u32(0, 'gpuId'), DEVICE: u32(8, 'deviceInstance') },
)
