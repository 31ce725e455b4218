import { readFileSync, writeFileSync } from 'node:fs'

const POOL = '/sys/kernel/mm/hugepages/hugepages-2048kB'

/** So many free huge pages of 2 MiB, put into the kernel's pool where it has none and lets us; what it had comes back. */
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
    // No such pages in this kernel, or not ours to reserve.
    if (!['ENOENT', 'EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  return undefined
}
