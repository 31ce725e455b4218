import { cudaStatus, NativeAddonError } from '@gpunvme/cuda-native'
import { loadHardwareHost } from '@gpunvme/cuda-native/host'
import type { AddonState, ProcessFacts } from './facts.js'

/** Returns the capabilities of this process on this machine. Queries CUDA, which starts NVIDIA's driver. */
export function askProcess(): ProcessFacts {
  return { isRoot: process.getuid?.() === 0, addon: askAddon(), cuda: cudaStatus() }
}

function askAddon(): AddonState {
  try {
    loadHardwareHost()
    return { isLoaded: true }
  } catch (error) {
    if (!(error instanceof NativeAddonError)) throw error
    return { isLoaded: false, reasons: error.facts, next: error.next }
  }
}
