// Judges the reports of a test run and renders the summary that ends it.
//
// If a program or a device is missing, a skipped test states the kind of the requirement in brackets before the reason:
// in the note of `skip('[mkfs] mkfs.xfs is not installed')`, or in its own title or that of its group, as in
// `(skipped: [qemu] qemu-system-x86_64 is not installed)`. GPUNVME_REQUIRE=qemu,browser turns skips of these kinds into
// failures. A skip for another reason, for example that root may read every file, has no kind and never fails a run.

/** Kinds of requirements that a machine may lack, and the Debian packages or the command that provide each. */
export const kinds = {
  native: { what: "cuda-native's addon", get: 'g++ make python3' },
  qemu: { what: "QEMU's NVMe controller", get: 'qemu-system-x86' },
  vm: { what: 'a Linux guest in QEMU', get: 'npm run test:vm' },
  browser: { what: 'a headless Chromium', get: 'chromium' },
  mkfs: {
    what: 'programs that make partitions and file systems',
    get: 'fdisk dosfstools xfsprogs btrfs-progs f2fs-tools nilfs-tools jfsutils reiserfsprogs ocfs2-tools gfs2-utils exfatprogs ntfs-3g udftools squashfs-tools erofs-utils xorriso cryptsetup-bin bcache-tools drbd-utils mtools',
  },
  headers: { what: 'a C compiler, and the headers of libnvme and Linux', get: 'gcc g++ libc6-dev libnvme-dev' },
  kbuild: { what: 'the headers that kernel modules are built with', get: 'linux-headers-amd64 gcc make' },
  cuda: { what: "NVIDIA's CUDA compiler", get: 'nvcc, from NVIDIA' },
  'nvme-cli': { what: 'the program nvme', get: 'nvme-cli' },
  shells: { what: 'bash, zsh and fish', get: 'zsh fish' },
  pciutils: { what: 'the program lspci', get: 'pciutils' },
  unpackers: { what: 'the programs xz, zstd and modinfo', get: 'xz-utils zstd kmod' },
  fio: { what: 'the program fio', get: 'fio' },
  loop: { what: 'loop devices', get: 'root, on Linux with the driver loop' },
  sysfs: { what: 'a /sys that lists block devices', get: 'Linux outside of a container' },
}

const kindOf = (skip) => /\((?:skipped: )?\[([a-z0-9-]+)\] /.exec(skip)?.[1]
const reasonOf = (skip) =>
  (/\((?:skipped: )?(\[[a-z0-9-]+\] [^)]*)\)/.exec(skip) ?? /\((?:skipped: )?([^()]*)\)$/.exec(skip))?.[1]

/**
 * Judges one run and the second run of its failed files.
 *
 * A file that fails and then passes by itself is flaky if `retriable` lists it: it is printed and does not fail the
 * run. In any other file that is nondeterminism, and fails the run.
 *
 * @param first the report of the run: see scripts/test-reporter.mjs
 * @param second the report of the second run; undefined if there was none
 * @param retriable decides by path whether a file depends on processes, guests or real time
 * @param required the kinds whose skips are failures
 */
export function judge(first, second, retriable, required) {
  const verdict = { passed: 0, failed: [], flaky: [], skipped: [], problems: [...first.errors] }
  for (const { file, passed, failed, skipped } of first.files) {
    verdict.passed += passed
    verdict.skipped.push(...skipped)
    if (failed.length === 0) continue
    const again = second?.files.find((other) => other.file === file)
    const recovered = again !== undefined && again.failed.length === 0 && again.passed > 0
    for (const { name, error } of failed) {
      if (recovered && retriable(file)) verdict.flaky.push({ file, name, error })
      else
        verdict.failed.push({
          file,
          name,
          error: recovered ? `${error}\nnondeterministic: passed when run again` : error,
        })
    }
  }
  for (const kind of required.filter((name) => !Object.hasOwn(kinds, name)))
    verdict.problems.push(
      `GPUNVME_REQUIRE: unknown kind ${JSON.stringify(kind)}; known: ${Object.keys(kinds).join(', ')}`,
    )
  for (const skip of verdict.skipped) {
    const kind = kindOf(skip)
    if (kind === undefined) continue
    if (!Object.hasOwn(kinds, kind)) verdict.problems.push(`unknown kind of skip: ${skip}`)
    else if (required.includes(kind))
      verdict.problems.push(`GPUNVME_REQUIRE=${kind} (${kinds[kind].what}), but skipped: ${skip}`)
  }
  if (first.files.length > 0 && verdict.passed + verdict.skipped.length === 0) verdict.problems.push('no test ran')
  return verdict
}

/** Renders a verdict: skips by reason, then flaky and failed tests, then one line of totals. */
export function render({ passed, failed, flaky, skipped, problems }) {
  const lines = []
  const reasons = new Map()
  for (const skip of skipped) {
    const reason = reasonOf(skip) ?? skip
    reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  }
  for (const [reason, count] of [...reasons].sort()) {
    const get = kinds[/^\[([a-z0-9-]+)\]/.exec(reason)?.[1]]?.get
    lines.push(`skipped ${count}: ${reason}${get === undefined ? '' : ` (to enable: ${get})`}`)
  }
  for (const { file, name, error } of flaky) lines.push(`flaky: ${file} > ${name}`, ...indent(error))
  for (const { file, name, error } of failed) lines.push(`FAILED: ${file} > ${name}`, ...indent(error))
  for (const problem of problems) lines.push(`FAILED: ${problem}`)
  return [...lines, `${passed} passed, ${failed.length} failed, ${flaky.length} flaky, ${skipped.length} skipped`]
}

/** Returns the first lines of an error message, indented. */
function indent(message) {
  return message
    .split('\n')
    .slice(0, 6)
    .map((line) => `  ${line.slice(0, 200)}`)
}
