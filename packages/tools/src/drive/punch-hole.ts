import { loadHardwareHost, NativeAddonError } from '@gpunvme/cuda-native/host'

/**
 * Makes bytes of an image a hole, as the native addon does it. False where this machine has no addon: the image is
 * written with zeroes then, which takes longer.
 */
export function punchHole(fd: number, offsetBytes: number, lengthBytes: number): boolean {
  try {
    return loadHardwareHost().punchHole?.(fd, offsetBytes, lengthBytes) ?? false
  } catch (error) {
    if (error instanceof NativeAddonError) return false
    throw error
  }
}
