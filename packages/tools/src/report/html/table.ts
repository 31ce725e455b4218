import { each, html, type Content, type Markup } from './markup.js'

export interface Table {
  /** What it is a table of, for those who do not see what is around it. */
  readonly caption: string
  readonly columns: readonly { readonly title: Content; readonly numeric?: boolean }[]
  /** The first cell of each is what the row is about. */
  readonly rows: readonly (readonly Content[])[]
}

/** A table that is moved sideways on its own where it is wider than its place. */
export function table({ caption, columns, rows }: Table): Markup {
  const kind = (index: number) => (columns[index]?.numeric === true ? html` class="number"` : undefined)
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">
    <table>
      <caption>
        ${caption}
      </caption>
      <thead>
        <tr>
          ${each(columns, ({ title }, index) => html`<th scope="col" ${kind(index)}>${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${each(
          rows,
          (row) =>
            html`<tr>
              ${each(row, (cell, index) =>
                index === 0 ? html`<th scope="row" ${kind(0)}>${cell}</th>` : html`<td ${kind(index)}>${cell}</td>`,
              )}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}

/** A table below a chart, which is there for those who want its numbers. */
export function tableBelow(described: Table): Markup {
  return html`<details>
    <summary>The numbers of this chart</summary>
    ${table(described)}
  </details>`
}

export interface HeatTable {
  readonly caption: string
  readonly corner: string
  readonly columns: readonly string[]
  readonly rows: readonly { readonly title: string; readonly cells: readonly (HeatCell | undefined)[] }[]
}

export interface HeatCell {
  readonly text: string
  /** Of the highest in all tables that are compared: 0 to 1. */
  readonly share: number
}

/** Numbers on a ground that is the darker, the higher they are. */
export function heatTable({ caption, corner, columns, rows }: HeatTable): Markup {
  const cell = (one: HeatCell | undefined) =>
    one === undefined
      ? html`<td class="none">-</td>`
      : html`<td style="--heat:${(one.share * 0.5).toFixed(3)}">${one.text}</td>`
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}">
    <table class="heat">
      <thead>
        <tr>
          <th scope="col">${corner}</th>
          ${each(columns, (title) => html`<th scope="col">${title}</th>`)}
        </tr>
      </thead>
      <tbody>
        ${each(
          rows,
          ({ title, cells }) =>
            html`<tr>
              <th scope="row">${title}</th>
              ${each(cells, cell)}
            </tr>`,
        )}
      </tbody>
    </table>
  </div>`
}
