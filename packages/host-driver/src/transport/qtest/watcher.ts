import { spawn, type ChildProcess } from 'node:child_process'

/**
 * Waits for this process to end, by any cause. Then removes the directories and ends QEMU, which would not notice. A
 * QEMU whose process number is not known yet is found by its command line; one that has not come that far finds no
 * directories, and ends by itself. Ignores interrupts from the terminal.
 */
const WATCH = `trap "" INT TERM HUP
qtest=$1; shift
while read -r line; do pid=$line; done
rm -rf "$@"
[ -z "$pid" ] || kill -9 "$pid"
printf 'pipe:%s\\n' "$qtest" | grep -laFf - /proc/[0-9]*/cmdline | while IFS=/ read -r _ _ pid _; do kill -9 "$pid"; done
rm -rf "$@"`

/**
 * A process that outlives this one and cleans up after a machine if this process cannot. It exists before the first
 * directory and before QEMU, so that a kill at any moment leaves nothing.
 */
export class Watcher {
  readonly #child: ChildProcess

  /** Watches for the `folders`, and for the QEMU whose qtest FIFOs are named `qtest`. */
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

  /** Sets the process to end; undefined if there is none any more, since its number may be reused. */
  watch(pid: number | undefined): void {
    this.#child.stdin?.write(`${pid ?? ''}\n`)
  }

  /** Ends the watcher: nothing is left to clean up. */
  end(): void {
    this.#child.kill('SIGKILL')
  }
}
