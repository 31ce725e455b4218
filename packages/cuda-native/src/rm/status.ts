/** NV_STATUS codes that this probe may receive, named as in nvstatuscodes.h. */
const NAMES = new Map<number, string>([
  [0x00, 'NV_OK'],
  [0x0f, 'NV_ERR_GPU_IS_LOST'],
  [0x1a, 'NV_ERR_INSUFFICIENT_RESOURCES'],
  [0x1b, 'NV_ERR_INSUFFICIENT_PERMISSIONS'],
  [0x1e, 'NV_ERR_INVALID_ADDRESS'],
  [0x1f, 'NV_ERR_INVALID_ARGUMENT'],
  [0x22, 'NV_ERR_INVALID_CLASS'],
  [0x23, 'NV_ERR_INVALID_CLIENT'],
  [0x26, 'NV_ERR_INVALID_DEVICE'],
  [0x29, 'NV_ERR_INVALID_FLAGS'],
  [0x2e, 'NV_ERR_INVALID_LIMIT'],
  [0x3a, 'NV_ERR_INVALID_PARAM_STRUCT'],
  [0x51, 'NV_ERR_NO_MEMORY'],
  [0x56, 'NV_ERR_NOT_SUPPORTED'],
  [0x57, 'NV_ERR_OBJECT_NOT_FOUND'],
  [0x59, 'NV_ERR_OPERATING_SYSTEM'],
])

/** Returns name and number of a status: 'NV_ERR_INVALID_ADDRESS (0x1e)'; only the number if it has no name here. */
export function statusName(status: number): string {
  const hex = `0x${status.toString(16)}`
  const name = NAMES.get(status)
  return name === undefined ? `status ${hex}` : `${name} (${hex})`
}
