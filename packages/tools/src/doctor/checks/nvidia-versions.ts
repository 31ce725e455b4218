import { valueOf } from '../../machine/known.js'
import type { Mismatch } from '../../nvidia/index.js'
import { updateInitramfs } from '../advice.js'
import { gpunvme, type Facts } from '../facts.js'
import { openFlavour } from '../open-flavour.js'
import { command, hands, read, type Draft, type Step } from '../finding.js'

type Kind = Mismatch['kind']

/** Mismatches of version or flavour between parts of the driver. */
const PARTS: readonly Kind[] = [
  'running-and-disk',
  'running-and-initramfs',
  'disk-and-initramfs',
  'running-and-libcuda',
  'flavours',
]

/**
 * Checks that the running module, the module on disk, the one in the initramfs and the libraries have the same version.
 */
export function checkVersions(facts: Facts): Draft[] {
  const { mismatches } = facts.nvidia
  const isPacked = mismatches.some(({ kind }) => kind === 'disk-and-initramfs')
  // With a stale initramfs, the next start does not load the module on disk.
  const parts = mismatches.filter(({ kind }) => PARTS.includes(kind) && !(isPacked && kind === 'running-and-disk'))
  const others = mismatches.filter(({ kind }) => !PARTS.includes(kind))
  return [...(parts.length === 0 ? [] : [different(facts, parts)]), ...others.map((each) => other(facts, each))]
}

function different(facts: Facts, parts: readonly Mismatch[]): Draft {
  const has = (kind: Kind) => parts.some((each) => each.kind === kind)
  const isDead = has('running-and-libcuda')
  const title = isDead
    ? "NVIDIA's module and its libraries are of different versions: CUDA does not start"
    : 'The running NVIDIA module is not the one that the next start loads'
  return {
    id: isDead ? 'nvidia-versions' : 'nvidia-next-start',
    severity: 'problem',
    title,
    ...(has('flavours') && {
      cause: 'They are of different flavours, too: what works now may not work after a restart.',
    }),
    evidence: parts.map(({ text }) => read('', text)),
    steps: steps(facts, has),
    closes: isDead ? ['tier1'] : [],
  }
}

/** The files on disk were installed last: the steps bring everything else to their version. */
function steps(facts: Facts, has: (kind: Kind) => boolean): Step[] {
  const { onDisk, libcuda, kernel } = facts.nvidia
  const disk = valueOf(onDisk)?.find((each) => each.kernel === valueOf(kernel))
  const contents = disk === undefined ? undefined : valueOf(disk.contents)
  const library = valueOf(libcuda)
  const libraryVersion = library === undefined ? undefined : valueOf(library.version)
  const isWhole = libraryVersion === undefined || contents?.version === libraryVersion
  const isWorse = has('flavours') && contents !== undefined && valueOf(contents.flavour) === 'proprietary'
  return [
    // A restart would switch the flavour.
    ...(isWorse ? openFlavour(facts, contents.version).slice(0, 1) : []),
    ...(isWhole ? [] : [hands('install module and libraries of one version, by the same packages')]),
    ...(has('disk-and-initramfs') ? [updateInitramfs(facts.machine)] : []),
    command('sudo reboot'),
  ]
}

function other(facts: Facts, { kind, text }: Mismatch): Draft {
  return {
    id: `nvidia-${kind}`,
    severity: kind === 'mark-lost' ? 'problem' : 'note',
    title: text,
    steps: [command(gpunvme(facts, 'driver'))],
  }
}
