import { readFileSync, writeFileSync } from 'node:fs'

const POOL = '/sys/kernel/mm/hugepages/hugepages-2048kB'

/**
 * Ensures that `count` huge pages of 2 MiB are free, and restores the pool when disposed. Returns undefined if it
 * cannot.
 */
export function reserveHugePages(count: number): (Disposable & { readonly free: number }) | undefined {
  const read = (name: string) => Number(readFileSync(`${POOL}/${name}`, 'utf8'))
  try {
    const before = read('nr_hugepages')
    const give = (pages: number) => writeFileSync(`${POOL}/nr_hugepages`, String(pages))
    if (read('free_hugepages') >= count) return { free: read('free_hugepages'), [Symbol.dispose]: () => undefined }
    give(before + count)
    if (read('free_hugepages') >= count) {
      return { free: read('free_hugepages'), [Symbol.dispose]: () => give(before) }
    }
    give(before)
  } catch (error) {
    // The kernel does not support them, or this process may not reserve them.
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  return undefined
}
