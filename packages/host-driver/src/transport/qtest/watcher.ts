import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Waits for this process to end, however it does: then it removes the folders and ends QEMU, which would never notice.
 * A QEMU that is too young to be told of is found by its command line; one that is not even that finds no folders when
 * it comes to its files, and ends by itself. Interrupts from the terminal are for others.
 */
const WATCH = `trap "" INT TERM HUP
qtest=$1; shift
while read -r line; do pid=$line; done
rm -rf "$@"
[ -z "$pid" ] || kill -9 "$pid"
printf 'pipe:%s\\n' "$qtest" | grep -laFf - /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do kill -9 "$pid"; done
rm -rf "$@"`

/**
 * A process that outlives this one, and leaves nothing of a machine behind where this one cannot see to it. It is there
 * before the first folder and before QEMU is, so that there is no moment at which to be killed with something left.
 */
export class Watcher {
  readonly #child: ChildProcess

  /** For what will be in `folders`, and the QEMU whose qtest FIFOs are called `qtest`. */
  constructor(folders: readonly string[], qtest: string) {
    this.#child = spawn('sh', ['-c', WATCH, 'sh', qtest, ...folders], {
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    this.#child.on('error', () => undefined)
    this.#child.stdin?.on('error', () => undefined)
    this.#child.unref()
    ;(this.#child.stdin as { unref?: () => void } | null)?.unref?.()
  }

  /** Which process to end; undefined when there is none any more, as another may get its number. */
  watch(pid: number | undefined): void {
    this.#child.stdin?.write(`${pid ?? ''}\n`)
  }

  /** Nothing is left to see to. */
  end(): void {
    this.#child.kill('SIGKILL')
  }
}
