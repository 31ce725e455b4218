import { runInNewContext } from 'node:vm'
import { parseAst } from 'rolldown/parseAst'

const ofTheLanguage = new Set(runInNewContext('Object.getOwnPropertyNames(globalThis)') as string[])
const ofNode = new Set(
  [...Object.getOwnPropertyNames(globalThis), 'require', 'module', 'exports', '__filename', '__dirname'].filter(
    (name) => !ofTheLanguage.has(name),
  ),
)

/** Returns the globals outside the language that a module uses, and the modules that it imports. */
export function nodeNeeds(code: string): string[] {
  const names = new Set<string>()
  collect(parseAst(code), names)
  return [...names].sort()
}

/** Globals of Node that no browser has. */
const onlyInNode = [
  'Buffer',
  'process',
  'global',
  'setImmediate',
  'clearImmediate',
  'require',
  '__filename',
  '__dirname',
]

/** Returns the needs of a module that browsers lack: `nodeNeeds` without timers, AbortController and the like. */
export function missingInBrowser(code: string): string[] {
  return nodeNeeds(code).filter((need) => need.startsWith('import ') || onlyInNode.includes(need))
}

// Uses the syntax tree, since `Host Memory Buffer` in a description is not a use of `Buffer`.
function collect(node: unknown, names: Set<string>): void {
  if (Array.isArray(node)) {
    for (const item of node) collect(item, names)
  } else if (typeof node === 'object' && node !== null) {
    const { type, name, computed, source } = node as Record<string, unknown>
    if (type === 'Identifier' && ofNode.has(name as string)) names.add(name as string)
    const { value: imported } = (source ?? {}) as { value?: unknown }
    if (typeof imported === 'string') names.add(`import ${imported}`)
    for (const [key, child] of Object.entries(node)) {
      // `x.process` and `{ process: 1 }` name a member, not a global.
      if ((key === 'property' || key === 'key') && computed === false) continue
      collect(child, names)
    }
  }
}
