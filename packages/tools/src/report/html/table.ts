import { each, html, type Content, type Markup } from './markup.js'

export interface Table {
  /** Caption, for readers without the visual context. */
  readonly caption: string
  readonly columns: readonly { readonly title: Content; readonly numeric?: boolean }[]
  /** The first cell of each row is its header. */
  readonly rows: readonly (readonly Content[])[]
}

/** A table that scrolls horizontally if it is too wide. */
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

/** A collapsed table below a chart, with its numbers. */
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
  /** Fraction of the maximum in all compared tables: 0 to 1. */
  readonly share: number
}

/** Numbers on a background that is darker for higher values. */
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
