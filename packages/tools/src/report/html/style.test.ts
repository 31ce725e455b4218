import { describe, expect, test } from 'vitest'
import { STYLE } from './style.js'

type Rgb = readonly [number, number, number]

/** Returns the colours of a scheme by variable name. */
function colours(scheme: 'light' | 'dark'): Map<string, Rgb> {
  const [light = '', dark = ''] = STYLE.split('@media screen and (prefers-color-scheme: dark) {')
  const block = scheme === 'light' ? light : dark.slice(0, dark.indexOf('\n}\n'))
  const found = [...block.matchAll(/--([a-z0-9-]+): #([0-9a-f]{6});/g)].map(([, name, hex]): [string, Rgb] => {
    const value = Number.parseInt(hex!, 16)
    return [name!, [(value >> 16) / 255, ((value >> 8) & 255) / 255, (value & 255) / 255]]
  })
  return new Map(found)
}

// sRGB to linear light (IEC 61966-2-1), and relative luminance and contrast by WCAG 2.2.
const toLinear = (rgb: Rgb): Rgb => {
  const [r, g, b] = rgb.map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  return [r!, g!, b!]
}
const luminance = (rgb: Rgb) => {
  const [r, g, b] = toLinear(rgb)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}
const contrast = (a: Rgb, b: Rgb) => {
  const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
  return (light! + 0.05) / (dark! + 0.05)
}

// Machado, Oliveira, Fernandes 2009, severity 1.0, in linear light: colour vision without one kind of cone.
const SEEN = {
  everyone: [1, 0, 0, 0, 1, 0, 0, 0, 1],
  protanopes: [0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998],
  deuteranopes: [0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.01182, 0.04294, 0.968881],
} as const

/** Converts to Oklab (Ottosson 2020), whose distances approximate perceived differences. */
function oklab(rgb: Rgb, seen: readonly number[]): Rgb {
  const linear = toLinear(rgb)
  const [r = 0, g = 0, b = 0] = [0, 3, 6].map((row) =>
    Math.max(0, seen[row]! * linear[0] + seen[row + 1]! * linear[1] + seen[row + 2]! * linear[2]),
  )
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

const SERIES = ['s0', 's1', 's2', 's3', 's4', 's5']

describe.each(['light', 'dark'] as const)('%s', (scheme) => {
  const all = colours(scheme)

  test('texts have a contrast of 4.5 : 1 and lines of 3 : 1 (WCAG 2.2, 1.4.3 and 1.4.11)', () => {
    for (const ground of ['ground', 'card']) {
      for (const name of ['ink', 'soft', 'limit'])
        expect(contrast(all.get(name)!, all.get(ground)!)).toBeGreaterThan(4.5)
      for (const name of SERIES) expect(contrast(all.get(name)!, all.get(ground)!)).toBeGreaterThan(3)
    }
    expect(contrast(all.get('ink')!, all.get('warm')!)).toBeGreaterThan(4.5)
  })

  test.each(Object.entries(SEEN))('series have distinct colours for %s, the first four more so', (_, seen) => {
    const places = SERIES.map((name) => oklab(all.get(name)!, seen))
    places.forEach((a, index) => {
      for (const b of places.slice(0, index))
        expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThan(index < 4 ? 0.08 : 0.055)
    })
  })
})
