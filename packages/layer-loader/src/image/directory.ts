import { MAX_MANIFEST_BYTES, MAX_MODEL_NAME_BYTES, MAX_MODELS, type CheckedExtent } from './format.js'
import { encodeExtent, readCheckedExtent } from './extent.js'
import { parseImageJson } from './json.js'

/** Entry of a model in the directory. */
export interface DirectoryEntry {
  readonly name: string
  /** 64 hexadecimal digits. */
  readonly fingerprint: string
  readonly manifest: CheckedExtent
}

export function encodeDirectory(entries: readonly DirectoryEntry[]): Uint8Array {
  const models = entries.map(({ name, fingerprint, manifest }) => ({
    name,
    fingerprint,
    manifest: encodeExtent(manifest),
  }))
  return Buffer.from(JSON.stringify({ models }))
}

/** @throws ImageContentError */
export function decodeDirectory(encoded: Uint8Array, usedEndBytes: number): DirectoryEntry[] {
  const names = new Set<string>()
  const models = parseImageJson('directory', encoded).member('models')
  return models.items(MAX_MODELS).map((model) => {
    const nameValue = model.member('name')
    const name = nameValue.text(MAX_MODEL_NAME_BYTES)
    if (/\p{Cc}/u.test(name)) throw nameValue.error('a name without control characters')
    if (names.has(name)) throw nameValue.error('a unique name')
    names.add(name)
    const manifestValue = model.member('manifest')
    const manifest = readCheckedExtent(manifestValue, usedEndBytes)
    manifestValue.member('lengthBytes').integer(1, MAX_MANIFEST_BYTES)
    return { name, fingerprint: model.member('fingerprint').hex(64), manifest }
  })
}
