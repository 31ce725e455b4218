/**
 * Style sheet of a report. Colours of series are distinguishable with red-green colour blindness, have a contrast of at
 * least 3:1, and are combined with distinct markers. Paper is always light.
 */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f9; --card: #ffffff; --ink: #14181f; --soft: #525b69; --rule: #dde1e7; --grid: #e8ebf0;
  --limit: #b3261e; --warm: #fff4e0; --warm-edge: #c77700; --heat-rgb: 38 110 214;
  --s0: #095fd7; --s1: #b34700; --s2: #147953; --s3: #8e3ca5; --s4: #566271; --s5: #c4217e;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --ground: #101318; --card: #181c23; --ink: #e9edf3; --soft: #a5afbd; --rule: #2e3541; --grid: #262c36;
    --limit: #ff8a80; --warm: #2e2413; --warm-edge: #e0a341; --heat-rgb: 70 140 240;
    --s0: #6fa1f9; --s1: #ff9d5c; --s2: #47d09b; --s3: #dbb4fb; --s4: #bcc3ce; --s5: #f580c3;
  }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  font-variant-numeric: tabular-nums; overflow-wrap: anywhere;
}
main, header, footer { max-width: 1340px; margin: 0 auto; padding: 0 clamp(16px, 3vw, 40px); }
header { padding-top: clamp(24px, 4vw, 56px); }
footer { padding-top: 8px; padding-bottom: 48px; color: var(--soft); font-size: 14px; }
.eyebrow { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; margin: 0 0 14px; color: var(--soft); font-size: 14px; }
.badge { border: 1px solid currentColor; border-radius: 99px; padding: 1px 10px; font-weight: 600; }
.badge.modelled { color: var(--s3); }
.badge.wall { color: var(--s2); }
h1 { margin: 0; font-size: clamp(22px, 3vw, 34px); line-height: 1.25; letter-spacing: -0.01em; max-width: 34em; text-wrap: balance; }
.context { margin: 14px 0 0; max-width: 62em; font-size: 17px; color: var(--soft); }
h2 { margin: 48px 0 16px; font-size: 22px; line-height: 1.3; }
h3 { margin: 0 0 4px; font-size: 17px; line-height: 1.35; }
h4 { margin: 0 0 6px; font-size: 15px; line-height: 1.35; }
p { margin: 0 0 12px; }
.caption { color: var(--soft); font-size: 14px; margin: 0 0 12px; }
.aside { color: var(--soft); font-size: 14px; margin: 6px 0 0; }
.caveats { margin: 20px 0 0; padding: 12px 16px 12px 34px; max-width: 62em; background: var(--warm); border-left: 4px solid var(--warm-edge); border-radius: 4px; }
.tiles { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 28px 0 0; padding: 0; list-style: none; }
.tiles li { display: flex; flex-direction: column; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 14px 16px; }
.tiles .what { color: var(--soft); font-size: 14px; }
.tiles .value { font-size: 26px; font-weight: 650; line-height: 1.25; letter-spacing: -0.01em; }
.tiles .more { color: var(--soft); font-size: 14px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 480px), 1fr)); gap: 16px; }
.card { min-width: 0; background: var(--card); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px; container-type: inline-size; }
.card.whole { grid-column: 1 / -1; }
.heats { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 440px), 1fr)); gap: 22px 28px; }
.heats > div { min-width: 0; }
.legend { display: flex; flex-wrap: wrap; gap: 2px 18px; margin: 0 0 6px; padding: 0; list-style: none; font-size: 14px; }
.legend li { display: flex; align-items: center; gap: 6px; }
.kind { color: var(--soft); font-size: 13px; }
.drawing svg { display: block; width: 100%; height: auto; }
.drawing svg.wide { max-width: 760px; }
.drawing svg.narrow { display: none; max-width: 460px; }
@container (max-width: 500px) {
  .drawing svg.wide { display: none; }
  .drawing svg.narrow { display: block; }
}
svg { overflow: visible; }
svg text { font-size: 13px; fill: var(--ink); }
svg .ticks text, svg .axis-title { fill: var(--soft); }
svg .limit-name { fill: var(--limit); stroke: var(--card); stroke-width: 4px; paint-order: stroke; }
.grid line { stroke: var(--grid); }
.axis { stroke: var(--soft); }
.limit { stroke: var(--limit); stroke-width: 1.5; stroke-dasharray: 7 4; }
.outlier { stroke: var(--ink); stroke-width: 1.6; fill: none; }
.s0 { --own: var(--s0); } .s1 { --own: var(--s1); } .s2 { --own: var(--s2); }
.s3 { --own: var(--s3); } .s4 { --own: var(--s4); } .s5 { --own: var(--s5); }
.plain { --own: var(--ink); }
.key { flex: none; }
.line { fill: none; stroke: var(--own); stroke-width: 2; stroke-linejoin: round; }
.baseline .line { stroke-dasharray: 5 4; }
.whisker { fill: none; stroke: var(--own); stroke-width: 1.6; }
.marker { fill: var(--own); stroke: var(--card); stroke-width: 1; }
.baseline .marker { fill: var(--card); stroke: var(--own); stroke-width: 1.8; }
.bars { display: grid; gap: 12px; margin: 0; padding: 0; list-style: none; }
.bar-text { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 16px; }
.bar-name { display: inline-flex; flex-wrap: wrap; align-items: center; gap: 0 6px; font-weight: 600; }
.bar-name .kind { font-weight: 400; }
.bar { display: block; }
.bar .track { fill: var(--grid); }
.bar .fill { fill: var(--own); fill-opacity: 0.72; }
.bar.baseline .fill { fill-opacity: 0.25; stroke: var(--own); stroke-width: 1.5; }
.bar .whisker { stroke: var(--ink); }
.bar .dot { fill: var(--card); stroke: var(--ink); stroke-width: 1; }
.lane.even { fill: var(--s0); } .lane.odd { fill: var(--s1); }
.lane rect { fill-opacity: 0.8; }
details { margin-top: 12px; font-size: 14px; }
summary { cursor: pointer; color: var(--soft); width: fit-content; }
summary:focus-visible, .scroll:focus-visible { outline: 2px solid var(--s0); outline-offset: 2px; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: 14px; line-height: 1.4; }
caption { text-align: left; color: var(--soft); padding: 6px 0; }
th, td { padding: 5px 12px 5px 0; text-align: left; vertical-align: top; overflow-wrap: normal; }
th:last-child, td:last-child { padding-right: 0; }
thead th { color: var(--soft); font-weight: 600; border-bottom: 1px solid var(--rule); }
tbody tr + tr > * { border-top: 1px solid var(--grid); }
tbody th { font-weight: 600; }
.number { text-align: right; white-space: nowrap; }
.heat { width: 100%; }
.heat tbody th { width: 1%; }
.heat th, .heat td { padding: 6px 8px; text-align: right; white-space: nowrap; border: 0; }
.heat td { background: rgb(var(--heat-rgb) / var(--heat)); border: 1px solid var(--card); }
.heat .none { color: var(--soft); }
h3 + dl { margin-top: 8px; }
dl { display: grid; grid-template-columns: minmax(8em, max-content) 1fr; gap: 4px 20px; margin: 0; }
dt { color: var(--soft); }
dd { margin: 0; }
code { font: 0.92em ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace; }
@media (max-width: 520px) {
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: 8px; }
  .card { padding: 14px; }
}
@page { size: A4; margin: 14mm; }
@media print {
  :root { --ground: #ffffff; }
  body { font-size: 10.5pt; print-color-adjust: exact; -webkit-print-color-adjust: exact; }
  main, header, footer { max-width: none; padding: 0; }
  .context { font-size: 11.5pt; }
  .tiles { grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 8px; }
  .tiles li { padding: 8px 10px; }
  .tiles .value { font-size: 15pt; }
  .tiles .what, .tiles .more, .caption, .aside, .legend, table { font-size: 9pt; }
  .cards { grid-template-columns: 1fr 1fr; gap: 10px; }
  .card { padding: 10px 12px; }
  .settings { grid-column: 1 / -1; }
  .heats { grid-template-columns: 1fr 1fr; gap: 12px 16px; }
  .heat th, .heat td { padding: 3px 5px; }
  .card:not(.whole), .tiles li, .heats > div, tr { break-inside: avoid; }
  h2, h3, h4, .caption { break-after: avoid; }
  h2 { margin: 22px 0 10px; }
  details:not([open]) { display: none; }
  dl { grid-template-columns: minmax(6em, max-content) 1fr; gap: 2px 12px; font-size: 9pt; }
  .scroll { overflow: visible; }
  th, td { overflow-wrap: anywhere; }
}
`
