import { isKnown, unknown, type Known } from '../machine/known.js'
import type { Root } from '../machine/root.js'
import type { DiskModule, Flavour, ModuleContents, PfnLookup } from './driver-state.js'
import { readElf, type ElfFacts } from './elf.js'
import { MAX_MODULE_BYTES } from './initramfs.js'
import { compressionOf, unpackWhole } from './unpack.js'

/** nvidia.ko; Debian names it nvidia-current.ko or by branch. Excludes nvidia-drm.ko and others. */
const NAME = /^nvidia(?:-(?:current(?:-open)?|open|tesla(?:-\d+)?|legacy-\d+xx))?\.ko(?:\.(?:xz|zst|gz))?$/

const COMPRESSIONS = { '': 'none', xz: 'xz', zst: 'zstd', gz: 'gzip' } as const

/** Lookup functions for pages behind registers, in the order of preference of the driver's build. */
export const LOOKUP_SYMBOLS = ['follow_pfn', 'unsafe_follow_pfn', 'follow_pfnmap_start', 'follow_pte'] as const

/** Directories below /lib/modules/KERNEL used by packages; the kernel's own directories are too many. */
const FOLDERS = ['updates', 'extra', 'weak-updates', 'misc', 'kernel/drivers/video', 'kernel/drivers/char', 'nvidia']
const MAX_FOLDERS = 2000
const MAX_KERNELS = 64
const MAX_DEPTH = 4

/** Reads all nvidia.ko of all kernels, those of `running` first. */
export async function readDiskModules(root: Root, running: string | undefined): Promise<Known<DiskModule[]>> {
  if (!(await root.exists('lib/modules'))) return root.why('lib/modules')
  const kernels = (await root.list('lib/modules')).slice(0, MAX_KERNELS)
  const ordered = [...kernels.filter((name) => name === running), ...kernels.filter((name) => name !== running)]
  const modules: DiskModule[] = []
  for (const kernel of ordered) {
    for (const path of await modulePaths(root, `lib/modules/${kernel}`))
      modules.push(await readDiskModule(root, kernel, path))
  }
  return modules
}

async function readDiskModule(root: Root, kernel: string, path: string): Promise<DiskModule> {
  const [, ending = ''] = /\.ko(?:\.(xz|zst|gz))?$/.exec(path) ?? []
  const compression = COMPRESSIONS[ending as keyof typeof COMPRESSIONS]
  const bytes = await root.bytes(path, MAX_MODULE_BYTES)
  const contents = bytes === undefined ? root.why(path) : await readModule(Buffer.from(bytes))
  return { kernel, path: `/${path}`, compression, contents }
}

/** Reads a module file, compressed or not. */
export async function readModule(file: Buffer): Promise<Known<ModuleContents>> {
  const compression = compressionOf(file)
  const bytes = compression === undefined ? file : await unpackWhole(file, compression, MAX_MODULE_BYTES)
  if (!isKnown(bytes)) return bytes
  const elf = readElf(bytes, LOOKUP_SYMBOLS)
  return isKnown(elf) ? contentsOf(elf, bytes) : elf
}

function contentsOf({ modinfo, calls }: ElfFacts, bytes: Buffer): ModuleContents {
  const entry = (name: string) => modinfo.find(([key]) => key === name)?.[1]
  const license = entry('license')
  const mark = entry('gpunvme')
  return {
    version: entry('version'),
    license,
    flavour: flavourOf(license),
    srcversion: entry('srcversion'),
    vermagicRelease: entry('vermagic')?.split(' ')[0],
    pfnLookup: lookupOf(mark, calls),
    mark,
    signer: signerOf(bytes),
  }
}

/** The open flavour declares a licence that allows GPL functions; the other one may not call them. */
export function flavourOf(license: string | undefined): Known<Flavour> {
  if (license === 'Dual MIT/GPL') return 'open'
  return license === 'NVIDIA' ? 'proprietary' : unknown(`its licence is '${license ?? 'missing'}'`)
}

function lookupOf(mark: string | undefined, calls: ReadonlySet<string>): PfnLookup {
  if (mark?.startsWith('pfn-walk/')) return 'page-table-walk'
  if (mark?.startsWith('pfn-guarded/')) return 'guarded-vm_pgoff'
  return LOOKUP_SYMBOLS.find((name) => calls.has(name)) ?? 'none'
}

async function modulePaths(root: Root, folder: string): Promise<string[]> {
  const found = new Set<string>()
  let queue = [
    ...FOLDERS.map((name) => ({ path: `${folder}/${name}`, depth: 0 })),
    // Ubuntu's prebuilt modules: kernel/nvidia-580.
    ...(await root.list(`${folder}/kernel`))
      .filter((name) => name.startsWith('nvidia'))
      .map((name) => ({ path: `${folder}/kernel/${name}`, depth: 0 })),
  ]
  // Each directory is searched completely before the next: modprobe takes the first module.
  for (let visited = 0; queue.length > 0 && visited < MAX_FOLDERS; visited++) {
    const { path, depth } = queue.shift()!
    const names = await root.list(path)
    for (const name of names.filter((each) => NAME.test(each))) found.add(`${path}/${name}`)
    // Names with .ko are files.
    const folders = depth < MAX_DEPTH ? names.filter((name) => !name.includes('.ko')) : []
    queue = [...folders.map((name) => ({ path: `${path}/${name}`, depth: depth + 1 })), ...queue]
  }
  return [...found]
}

const MAGIC = Buffer.from('~Module signature appended~\n', 'latin1')
const DESCRIPTOR_BYTES = 12
/** Maximum length of a signature; a certificate chain has some kilobytes. */
const MAX_BYTES = 1024 * 1024
const PKEY_ID_PKCS7 = 2
/** DER encoding of commonName, 2.5.4.3 (X.520 6.2.2). */
const COMMON_NAME = Buffer.from([0x06, 0x03, 0x55, 0x04, 0x03])
/** UTF8String, PrintableString, TeletexString, IA5String: readable without conversion. */
const TEXT_TAGS = [0x0c, 0x13, 0x14, 0x16]

/**
 * Returns the signer of a module: the name in the PKCS #7 message appended by scripts/sign-file (Linux,
 * include/linux/module_signature.h). The signature is not verified, which is the kernel's task.
 * @returns undefined for a file without a signature.
 */
export function signerOf(file: Buffer): Known<string> | undefined {
  const descriptorAt = file.length - MAGIC.length - DESCRIPTOR_BYTES
  if (descriptorAt < 0 || !file.subarray(-MAGIC.length).equals(MAGIC)) return undefined
  const kind = file[descriptorAt + 2]
  if (kind !== PKEY_ID_PKCS7) return unknown(`its signature is of kind ${kind}, not PKCS #7`)
  const lengthBytes = file.readUInt32BE(descriptorAt + 8)
  if (lengthBytes > MAX_BYTES || lengthBytes > descriptorAt) return unknown(`its signature claims ${lengthBytes} bytes`)
  const message = file.subarray(descriptorAt - lengthBytes, descriptorAt)
  const at = message.indexOf(COMMON_NAME) + COMMON_NAME.length
  if (at < COMMON_NAME.length) return unknown('its signature names no signer')
  const [tag = 0, textBytes = 0] = message.subarray(at)
  if (!TEXT_TAGS.includes(tag) || textBytes >= 0x80) return unknown("the signer's name has an unknown encoding")
  return message.toString('utf8', at + 2, at + 2 + textBytes)
}
