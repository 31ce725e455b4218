// Reads the names that a C header declares: enumerators, numeric macros, structures with their members. Values, sizes
// and offsets are computed by the compiler instead.

/** A named number. */
export interface NamedNumber {
  readonly name: string
  /** Its enumeration; empty for anonymous enumerations, macros and constants. */
  readonly owner: string
}

/** A structure with the names of its members, including those of anonymous unions and structures. */
export interface Layout {
  readonly name: string
  readonly members: readonly Member[]
}

export interface Member {
  readonly name: string
  /** Whether it is a flexible array member, which begins at the end of the structure. */
  readonly flexible: boolean
}

export interface Facts {
  readonly numbers: readonly NamedNumber[]
  readonly layouts: readonly Layout[]
}

/** Returns the facts of a header. `macros` matches macros without arguments that are numbers. */
export function readFacts(header: string, macros?: RegExp): Facts {
  const code = header.replace(/\/\*[^]*?\*\//g, ' ').replace(/\/\/.*/g, ' ')
  const text = code.replace(/^[ \t]*#(.*\\\n)*.*/gm, '')
  const enums = Array.from(text.matchAll(/\benum\s*(\w*)\s*\{([^}]*)\}/g), ([, owner = '', body = '']) =>
    body.split(',').flatMap((part) => {
      const name = /^\s*([A-Za-z_]\w*)/.exec(part)?.[1]
      return name === undefined ? [] : [{ name, owner }]
    }),
  )
  const constants = Array.from(text.matchAll(/^static const \w+ (\w+) =/gm), ([, name = '']) => ({ name, owner: '' }))
  const defined = Array.from(code.matchAll(/^[ \t]*#[ \t]*define[ \t]+(\w+)[ \t]+\S/gm), ([, name = '']) => name)
    .filter((name) => macros?.test(name))
    .map((name) => ({ name, owner: '' }))
  const layouts = Array.from(text.matchAll(/^struct\s+(\w+)\s*\{/gm), ({ 0: open, 1: name = '', index }) => ({
    name,
    members: membersOf(block(text, index + open.length)),
  }))
  return { numbers: [...enums.flat(), ...constants, ...defined], layouts }
}

/** Returns the text from `start` to the matching closing brace. */
function block(text: string, start: number): string {
  let depth = 1
  let end = start
  for (; depth > 0; end++) depth += text[end] === '{' ? 1 : text[end] === '}' ? -1 : 0
  return text.slice(start, end - 1)
}

function membersOf(body: string): Member[] {
  const members: Member[] = []
  for (let rest = body.trimStart(); rest !== '';) {
    const brace = /^[^;{]*\{/.exec(rest)?.[0]
    if (brace === undefined) {
      const end = rest.indexOf(';')
      members.push(...declarators(rest.slice(0, end)))
      rest = rest.slice(end + 1).trimStart()
      continue
    }
    const inner = block(rest, brace.length)
    const after = rest.slice(brace.length + inner.length + 1)
    const end = after.indexOf(';')
    const names = after.slice(0, end).trim()
    members.push(...(names === '' ? membersOf(inner) : declarators(names)))
    rest = after.slice(end + 1).trimStart()
  }
  return members
}

/** Returns the members of a declaration: a and b for `__le16 a, b[4]`. */
function declarators(declaration: string): Member[] {
  return declaration.split(',').flatMap((part) => {
    const [, name, length] = /(\w+)\s*((?:\[[^\]]*\]\s*)*)$/.exec(part.trim()) ?? []
    return name === undefined ? [] : [{ name, flexible: /^\[\s*0?\s*\]$/.test((length ?? '').trim()) }]
  })
}
