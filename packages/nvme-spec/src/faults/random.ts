/** Returns a number in [0, 1) that depends only on the seed. */
export type Random = () => number

/**
 * Returns a seeded stream of uniform numbers, by Marsaglia's xorshift128 ("Xorshift RNGs", 2003). Integer arithmetic
 * only, so it is the same on every machine. Each consumer names its own stream, so draws of others do not shift it.
 */
export function randomStream(seed: number, name: string): Random {
  let mixed = seed >>> 0
  // Spreads adjacent seeds, and avoids the all-zero state, which xorshift never leaves.
  const mix = (value: number) => (mixed = Math.imul(mixed ^ (mixed >>> 15) ^ value, 0x9e37_79b1) + 0x7f4a_7c15) >>> 0
  for (let i = 0; i < name.length; i++) mix(name.charCodeAt(i))
  let [x, y, z, w] = [mix(1), mix(2), mix(3), mix(4) | 1]
  return () => {
    const t = x ^ (x << 11)
    x = y
    y = z
    z = w
    w = (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0
    return w / 0x1_0000_0000
  }
}
