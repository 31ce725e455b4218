type Child = Node | string

/** Attributes and properties of a new element. */
export interface Attributes {
  readonly class?: string
  readonly [attribute: string]: string | undefined
}

/** Returns the element of the page with this id. */
export function element(id: string): HTMLElement {
  const found = document.getElementById(id)
  if (found === null) throw new Error(`the page has no element #${id}`)
  return found
}

/** Creates an element. Strings become text nodes, so that input is never interpreted as HTML. */
export function create<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(name, value)
  made.append(...children)
  return made
}

/** Creates an SVG element. */
export function draw(tag: string, attributes: Readonly<Record<string, string | number>>, text?: string): SVGElement {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag)
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value))
  if (text !== undefined) made.textContent = text
  return made
}
