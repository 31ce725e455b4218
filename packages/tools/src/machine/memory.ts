import { unknown, type Known } from './known.js'
import type { HugePages, Memory } from './machine.js'
import type { Root } from './root.js'

export async function readMemory(root: Root): Promise<Memory> {
  const text = await root.text('proc/meminfo')
  const amount = (name: string): Known<number> => {
    if (text === undefined) return root.why('proc/meminfo')
    const [, kib] = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(text) ?? []
    return kib === undefined ? unknown(`/proc/meminfo has no ${name}`) : Number(kib) * 1024
  }
  return {
    totalBytes: amount('MemTotal'),
    availableBytes: amount('MemAvailable'),
    hugePages: await readHugePages(root),
    lockLimit: await readLockLimit(root),
  }
}

async function readHugePages(root: Root): Promise<HugePages[]> {
  const found = await pagesIn(root, 'sys/kernel/mm/hugepages', undefined)
  for (const name of await root.list('sys/devices/system/node')) {
    const [, node] = /^node(\d+)$/.exec(name) ?? []
    if (node === undefined) continue
    for (const each of await pagesIn(root, `sys/devices/system/node/${name}/hugepages`, Number(node))) found.push(each)
  }
  return found
}

async function pagesIn(root: Root, folder: string, node: number | undefined): Promise<HugePages[]> {
  const found: HugePages[] = []
  for (const name of await root.list(folder)) {
    const [, kib] = /^hugepages-(\d+)kB$/.exec(name) ?? []
    const pages = await root.number(`${folder}/${name}/nr_hugepages`)
    const freePages = await root.number(`${folder}/${name}/free_hugepages`)
    if (kib === undefined || pages === undefined || freePages === undefined) continue
    found.push({ pageBytes: Number(kib) * 1024, node, pages, freePages })
  }
  return found
}

/** From proc_pid_limits(5): 'Max locked memory         8388608              8388608              bytes'. */
async function readLockLimit(root: Root): Promise<Memory['lockLimit']> {
  const path = 'proc/self/limits'
  const [, soft, hard] =
    /^Max locked memory\s+(\d+|unlimited)\s+(\d+|unlimited)/m.exec((await root.text(path)) ?? '') ?? []
  if (soft === undefined || hard === undefined) return root.why(path)
  const bytes = (text: string) => (text === 'unlimited' ? text : Number(text))
  return { softBytes: bytes(soft), hardBytes: bytes(hard) }
}
