import type { CompletedNode, Completes } from './tree.js'

/**
 * Returns the functions that determine the place of a word, for bash and zsh: `_gpunvme_child`, `_gpunvme_value` and
 * `_gpunvme_operand`. They set the caller's `node` and `kind`.
 * @param listed sets the completions at a place for verbs.
 */
export function placeFunctions(nodes: readonly CompletedNode[], listed: (node: CompletedNode) => string): string {
  return `# The place that a word leads to, from $node.
_gpunvme_child() {
  case "$1/$2" in
${lines([...nodes.flatMap(childCases), '*) return 1 ;;'])}
  esac
}

# What the value of an option is; empty for options without one.
_gpunvme_value() {
  kind=
  case "$1/$2" in
${lines(nodes.flatMap(valueCases))}
  esac
}

# What an operand is, by its number.
_gpunvme_operand() {
  kind=anything
  case "$1/$2" in
${lines(nodes.flatMap((node) => (node.children.length > 0 ? [`${quote(`${node.path}/0`)}) ${listed(node)} ;;`] : operandCases(node))))}
  esac
}`
}

/** Statements, for bash and zsh, that advance `node`, `kind`, `literal` and `operands` by one complete `word`. */
export const NEXT_WORD = `    if [[ -n $kind ]]; then
      kind=
    elif [[ -z $literal && $word == -- ]]; then
      literal=yes
    elif [[ -z $literal && $word == -* ]]; then
      _gpunvme_value "$node" "$word"
    elif (( operands == 0 )) && _gpunvme_child "$node" "$word"; then
      literal=
    else
      (( operands += 1 ))
    fi`

/** Returns the cases of the options at each place. */
export function optionCases(nodes: readonly CompletedNode[], set: (node: CompletedNode) => string): string {
  return lines(nodes.map((node) => `${quote(node.path)}) ${set(node)} ;;`))
}

/** Quotes text as one word for the shell. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}

function childCases({ path, children }: CompletedNode): string[] {
  return children.map((child) => `${quote(`${path}/${child.name}`)}) node=${quote(child.path)} ;;`)
}

function valueCases({ path, options }: CompletedNode): string[] {
  return options.flatMap(({ names, value }) => {
    if (value === undefined) return []
    return [`${names.map((name) => quote(`${path}/${name}`)).join(' | ')}) kind=${kindOf(value)} ;;`]
  })
}

function operandCases({ path, operands, repeats }: CompletedNode): string[] {
  return operands.map((operand, index) => {
    const isLast = index === operands.length - 1
    const place = repeats && isLast ? `${quote(`${path}/`)}*` : quote(`${path}/${index}`)
    return `${place}) kind=${kindOf(operand)} ;;`
  })
}

function kindOf(value: Completes): string {
  return quote(value.kind === 'words' ? `words ${value.words.join(' ')}` : value.kind)
}

function lines(cases: readonly string[]): string {
  return cases.map((line) => `    ${line}`).join('\n')
}
