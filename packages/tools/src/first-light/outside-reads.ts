// Reference reads through Linux or the image file, without this package's driver.
import { open, type FileHandle } from 'node:fs/promises'
import { attempting } from '../command-line/file-error.js'
import { ToolsError } from '../command-line/tools-error.js'
import { findNamespace } from '../drive/block-device.js'
import { readNamespaces } from '../machine/namespaces.js'
import { Root } from '../machine/root.js'
import { formatBytes, plural } from '../terminal/units.js'
import { chooseExtents, countUniform, describeUniform, ORACLES, type Extent, type Reference } from './extents.js'
import type { StepFacts } from './report.js'
import { SkippedStep } from './sequence.js'

/** Block size of image files. */
const IMAGE_BLOCK_BYTES = 512

/** Reads extents from the block device of a namespace in Linux. */
export async function readFromLinux(
  { bdf, linuxName }: { readonly bdf: string; readonly linuxName: string },
  nsid: number | undefined,
  signal?: AbortSignal,
): Promise<Reference> {
  const { name, nsid: number } = findNamespace('/sys', linuxName, nsid)
  const namespaces = await readNamespaces(new Root('/'), `sys/bus/pci/devices/${bdf}/nvme/${linuxName}`)
  const { sizeBytes = 0, blockBytes = IMAGE_BLOCK_BYTES } = namespaces.find((each) => each.name === name) ?? {}
  if (sizeBytes === 0) throw new SkippedStep('the size of the block device is unknown or zero')
  const extents = chooseExtents(sizeBytes, blockBytes)
  const contents = await readFile(`/dev/${name}`, extents, signal)
  return { comparedWith: 'linux', nsid: number, capacityBytes: sizeBytes, blockBytes, extents, contents }
}

/** Reads extents from the file of a simulated drive. */
export async function readFromImage(path: string): Promise<Reference> {
  const capacityBytes = await withFile(path, async (file) => (await file.stat()).size)
  const blockBytes = IMAGE_BLOCK_BYTES
  const usable = Math.floor(capacityBytes / blockBytes) * blockBytes
  const extents = chooseExtents(usable, blockBytes)
  if (extents.length === 0) throw new SkippedStep('the image file is empty')
  const contents = await readFile(path, extents)
  return { comparedWith: 'image', nsid: undefined, capacityBytes: usable, blockBytes, extents, contents }
}

/** Records and describes a reference. */
export function reportReference(reference: Reference, record: (facts: StepFacts) => void): string {
  const { comparedWith, capacityBytes, blockBytes, extents, contents } = reference
  const bytes = extents.reduce((sum, { lengthBytes }) => sum + lengthBytes, 0)
  const uniform = countUniform(contents)
  record({ reference: { comparedWith, capacityBytes, blockBytes, extents: extents.length, bytes, uniform } })
  return `${plural(extents.length, 'extent')}, ${formatBytes(bytes)}, read from ${ORACLES[comparedWith]}${describeUniform(uniform, extents.length)}`
}

/**
 * Through the page cache: the drive is not mounted, and Linux creates the block device anew when its driver is bound
 * again.
 */
async function readFile(path: string, extents: readonly Extent[], signal?: AbortSignal): Promise<Uint8Array[]> {
  return withFile(path, async (file) => {
    const contents: Uint8Array[] = []
    for (const { offsetBytes, lengthBytes } of extents) {
      signal?.throwIfAborted()
      const bytes = new Uint8Array(lengthBytes)
      for (let at = 0; at < lengthBytes;) {
        const { bytesRead } = await file.read(bytes, at, lengthBytes - at, offsetBytes + at)
        if (bytesRead === 0) throw shortReadError(path, offsetBytes, lengthBytes, at)
        at += bytesRead
      }
      contents.push(bytes)
    }
    return contents
  })
}

function withFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  return attempting(`read ${path}`, async () => {
    const file = await open(path, 'r')
    try {
      return await use(file)
    } finally {
      await file.close()
    }
  })
}

/** Error of a file or block device that ends before the requested bytes. */
function shortReadError(path: string, offsetBytes: number, lengthBytes: number, got: number): ToolsError {
  const headline = `Short read: expected ${lengthBytes} bytes at byte ${offsetBytes}, got ${got}`
  return new ToolsError('ERR_GPUNVME_SHORT_READ', 'device', headline, { facts: [path] })
}
