import { execFile, execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Release to which the lists apply; others print other keys and have other mistakes. */
export const JUDGE = '2.3'

/** PATH with the folders of system administration programs, which contain nvme-cli. */
const PATH = `${process.env['PATH'] ?? ''}:/usr/sbin:/sbin`

/** Reason why nvme-cli cannot be used, with the kind of the missing part; undefined if it can. */
export const judgeMissing = findReason()

function findReason(): string | undefined {
  const { stdout, error } = spawnSync('nvme', ['version'], { env: { PATH }, encoding: 'utf8' })
  if (error) return '[nvme-cli] nvme is not installed'
  const version = /nvme version (\S+)/.exec(stdout)?.[1]
  if (version !== JUDGE)
    return `[nvme-cli] nvme is ${version ?? 'of no known version'}, the lists are those of ${JUDGE}`
  const probe = spawnSync('gcc', ['-E', '-x', 'c', '-include', 'linux/nvme_ioctl.h', '/dev/null'])
  if (probe.error) return '[headers] gcc is not installed'
  return probe.status === 0 ? undefined : '[headers] linux/nvme_ioctl.h is not installed'
}

/** Output of nvme-cli for a dump. */
export interface Printed {
  readonly json: string
  readonly human: string
}

/** nvme-cli with a preloaded shim that answers Admin commands from the files of a folder. */
export class NvmeCli {
  private readonly folder = mkdtempSync(join(tmpdir(), 'gpunvme-nvme-cli-'))
  private readonly shim = join(this.folder, 'shim.so')
  private dumps = 0

  constructor() {
    const options = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-O1', '-shared', '-fPIC']
    execFileSync('gcc', [...options, '-o', this.shim, join(import.meta.dirname, 'shim.c'), '-ldl'])
  }

  close(): void {
    rmSync(this.folder, { recursive: true })
  }

  /** Writes dumps to a new folder for the shim, and returns the folder. */
  put(files: Readonly<Record<string, DataView>>): string {
    const folder = join(this.folder, String(this.dumps++))
    mkdirSync(folder)
    for (const [name, { buffer, byteOffset, byteLength }] of Object.entries(files)) {
      writeFileSync(join(folder, name), new Uint8Array(buffer, byteOffset, byteLength))
    }
    return folder
  }

  /**
   * Runs one command against the dumps of `folder`.
   * @throws Error with the output of nvme-cli if it fails.
   */
  async run(folder: string, args: readonly string[]): Promise<Buffer> {
    const env = { PATH, LC_ALL: 'C', LD_PRELOAD: this.shim, NVME_SHIM_DUMPS: folder }
    return new Promise((resolve, reject) => {
      execFile('nvme', args, { env, encoding: 'buffer', maxBuffer: 2 ** 24 }, (error, stdout, stderr) => {
        // After a failed NVMe command, nvme-cli exits with status 0 or 1, but always writes to stderr.
        if (error || stderr.length > 0)
          reject(new Error(`nvme ${args.join(' ')}: ${stderr.toString() || error?.message}`))
        else resolve(stdout)
      })
    })
  }

  /** Prints a dump in both renderings: JSON, and text with every bit explained. */
  async print(folder: string, args: readonly string[]): Promise<Printed> {
    const json = await this.run(folder, [...args, '-o', 'json'])
    const human = await this.run(folder, [...args, '-H'])
    return { json: json.toString('latin1'), human: human.toString('utf8') }
  }
}
