import { loadHardwareHost, NativeAddonError } from '@gpunvme/cuda-native/host'

/**
 * Makes a range of an image a hole through the native addon. Returns false without an addon: zeros are then written,
 * which takes longer.
 */
export function punchHole(fd: number, offsetBytes: number, lengthBytes: number): boolean {
  try {
    return loadHardwareHost().punchHole?.(fd, offsetBytes, lengthBytes) ?? false
  } catch (error) {
    if (error instanceof NativeAddonError) return false
    throw error
  }
}
