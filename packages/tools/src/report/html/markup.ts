import { printableLines } from '../../terminal/printable.js'

/** Text that is already HTML. */
export class Markup {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

export type Content = string | number | Markup | undefined | readonly Content[]

/**
 * Creates HTML (or SVG in it) from a template. Interpolated values are escaped unless they are Markup: names come from
 * drives and files. Control characters and bidirectional overrides are shown by their numbers.
 */
export function html(strings: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  return new Markup(strings.reduce((all, part, index) => `${all}${textOf(contents[index - 1])}${part}`))
}

function textOf(content: Content): string {
  if (content === undefined) return ''
  if (content instanceof Markup) return content.text
  if (typeof content === 'object') return content.map(textOf).join('')
  return escapeHtml(printableLines(String(content)).join('\n'))
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!)
}

/** Isolates a name from a drive or file, so that its text direction does not affect its surroundings. */
export function foreign(name: string): Markup {
  return html`<bdi>${name}</bdi>`
}

/** JSON for a script element: no text in it can end the element or start a comment. */
export function embeddedJson(value: object): Markup {
  return new Markup(
    JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    }),
  )
}

/** Concatenates items without separator. */
export function each<T>(items: readonly T[], draw: (item: T, index: number) => Content): Markup {
  return html`${items.map(draw)}`
}

/** A definition list. */
export function definitions(rows: readonly (readonly [Content, Content])[]): Markup {
  return html`<dl>
    ${each(
      rows,
      ([term, meaning]) =>
        html`<dt>${term}</dt>
          <dd>${meaning}</dd>`,
    )}
  </dl>`
}
