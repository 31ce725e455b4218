/** An instruction of a kernel. */
export interface Instruction {
  /** The predicate it depends on, such as `@%p3` or `@!%p3`. */
  readonly guard?: string
  /** Opcode with its modifiers: `st.mmio.relaxed.sys.global.u32`. */
  readonly opcode: string
  /** Operands; a list in braces is one. */
  readonly operands: readonly string[]
}

/** A kernel's entry point. */
export interface Kernel {
  readonly name: string
  /** The type of each parameter, in order: `.u64`, or `.b8[24]`. */
  readonly parameters: readonly string[]
  /** Directives such as `.maxntid 1, 1, 1`, and those of its body except `.reg`: `.shared .align 4 .b8 name[16]`. */
  readonly directives: readonly string[]
  readonly instructions: readonly Instruction[]
  /** Index of the instruction after each label. */
  readonly labels: ReadonlyMap<string, number>
}

/** A parsed PTX file. */
export interface Ptx {
  readonly version: string
  readonly target: string
  readonly addressSize: string
  readonly kernels: readonly Kernel[]
  /** Other top-level declarations: functions and variables. */
  readonly others: readonly string[]
}

const entry = /^\.visible \.entry (\w+)\s*\(([^)]*)\)((?:\s*\.[^{;]*)?)\s*\{/

/** Parses the output of nvcc. Throws on unknown syntax, so that nothing is overlooked. */
export function parsePtx(text: string): Ptx {
  let rest = text.replace(/\/\/[^\n]*/g, '').trim()
  const heading = /^\.version (\S+)\s+\.target (\S+)\s+\.address_size (\S+)/.exec(rest)
  if (heading === null) throw new Error(`ptx: expected .version, .target and .address_size, got ${rest.slice(0, 60)}`)
  rest = rest.slice(heading[0].length).trimStart()
  const kernels: Kernel[] = []
  const others: string[] = []
  while (rest !== '') {
    const begin = entry.exec(rest)
    if (begin === null) {
      const other = /^[^{;]*(?:;|\{[^]*?\n\})/.exec(rest)?.[0] ?? rest
      others.push(other)
      rest = rest.slice(other.length).trimStart()
      continue
    }
    const end = rest.indexOf('\n}', begin[0].length)
    if (end < 0) throw new Error(`ptx: ${begin[1]!} has no end`)
    kernels.push({
      name: begin[1]!,
      parameters: begin[2]!.split(',').flatMap((each) => (each.trim() === '' ? [] : [parameterType(each)])),
      ...parseBody(begin[3]!.split('\n'), rest.slice(begin[0].length, end)),
    })
    rest = rest.slice(end + 2).trimStart()
  }
  return { version: heading[1]!, target: heading[2]!, addressSize: heading[3]!, kernels, others }
}

function parameterType(parameter: string): string {
  const found = /^\.param (?:\.align \d+ )?(\.\w+) \w+(\[\d+\])?$/.exec(parameter.trim())
  if (found === null) throw new Error(`ptx: expected a parameter, got ${parameter.trim()}`)
  return found[1]! + (found[2] ?? '')
}

function parseBody(before: readonly string[], body: string): Omit<Kernel, 'name' | 'parameters'> {
  const directives = before.map((each) => each.trim()).filter((each) => each !== '')
  const instructions: Instruction[] = []
  const labels = new Map<string, number>()
  const statements = body.split(';').map((each) => each.trim().replace(/\s+/g, ' '))
  if (statements.at(-1) === '') statements.pop()
  for (let statement of statements) {
    // Labels, and braces around a call and its parameters.
    for (let before; (before = /^(?:([$\w]+):|[{}]) ?/.exec(statement)) !== null;) {
      if (before[1] !== undefined) labels.set(before[1], instructions.length)
      statement = statement.slice(before[0].length)
    }
    if (/^\.reg /.test(statement)) continue
    if (statement.startsWith('.')) {
      directives.push(statement)
      continue
    }
    const found = /^(?:(@!?%p\d+) )?([a-z][\w.:]*)(?: (.*))?$/.exec(statement)
    if (found === null) throw new Error(`ptx: expected an instruction, got ${statement}`)
    const operands = (found[3] ?? '').match(/\{[^}]*\}|\[[^\]]*\]|[^,\s][^,]*/g) ?? []
    const guard = found[1]
    instructions.push({ ...(guard !== undefined && { guard }), opcode: found[2]!, operands })
  }
  return { directives, instructions, labels }
}
