/** Device named by a word of a command line. */
export type DeviceName =
  | { readonly kind: 'address'; readonly address: string }
  /** Linux's name of a drive: 'nvme0'. */
  | { readonly kind: 'linux'; readonly name: string; readonly isPartition: boolean }
  /** A node of the module gpunvme: 'gpunvme0'. */
  | { readonly kind: 'module'; readonly node: string }

/**
 * Parses '0000:0b:00.0', '0b:00.0', 'nvme0', 'nvme0n1', 'nvme0n1p1' and 'gpunvme0', also below /dev/. Returns undefined for
 * other words.
 */
export function parseDeviceName(text: string): DeviceName | undefined {
  const word = text.replace(/^\/dev\//, '')
  const [, domain = '0000', rest] =
    /^(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[01][0-9a-f]\.[0-7])$/.exec(word.toLowerCase()) ?? []
  if (rest !== undefined) return { kind: 'address', address: `${domain}:${rest}` }
  const [, name, partition] = /^(nvme\d+)(?:n\d+(p\d+)?)?$/.exec(word) ?? []
  if (name !== undefined) return { kind: 'linux', name, isPartition: partition !== undefined }
  return /^gpunvme\d+$/.test(word) ? { kind: 'module', node: word } : undefined
}
