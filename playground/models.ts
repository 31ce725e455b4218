/** Weights that one token reads: every layer, or of a mixture of experts only the experts that a token uses. */
export interface ModelShape {
  readonly label: string
  readonly layers: number
  readonly layerBytes: number
}

// Bits per weight of llama.cpp's Q4_K_M (a mixture, so approximate) and Q6_K.
const Q4 = 4.85
const Q6 = 6.5625

/** Weights of a layer: attention with grouped keys and values, and three matrices for each feed-forward block. */
function weights(hidden: number, keyValue: number, feedForward: number, blocks = 1): number {
  return 2 * hidden * hidden + 2 * hidden * keyValue + 3 * hidden * feedForward * blocks
}

function shape(label: string, layers: number, count: number, bits: number): ModelShape {
  return { label, layers, layerBytes: Math.round((count * bits) / 8) }
}

export const models = {
  '70b-q4': shape('70B, Q4', 80, weights(8192, 1024, 28_672), Q4),
  '70b-q6': shape('70B, Q6', 80, weights(8192, 1024, 28_672), Q6),
  '8x22b-q4': shape('8x22B, Q4, all experts', 56, weights(6144, 1024, 16_384, 8), Q4),
  '8x22b-q4-2': shape('8x22B, Q4, 2 of 8 experts', 56, weights(6144, 1024, 16_384, 2), Q4),
  '8b-q4': shape('8B, Q4', 32, weights(4096, 1024, 14_336), Q4),
} as const
