import { expect, test } from 'vitest'
import { embeddedJson, foreign, html, Markup } from './markup.js'

test('html escapes interpolated texts', () => {
  expect(html`<p title="${`"'`}">${'<b>&amp;</b>'}</p>`.text).toBe(
    '<p title="&quot;&#39;">&lt;b&gt;&amp;amp;&lt;/b&gt;</p>',
  )
})

test('html keeps markup, joins lists and omits undefined', () => {
  expect(html`${[1, html`<i>a</i>`, ['b', undefined]]}${undefined}${new Markup('&times;')}`.text).toBe(
    '1<i>a</i>b&times;',
  )
})

test('foreign escapes control and bidirectional characters', () => {
  expect(foreign('a\u0000b\u202ec').text).toBe('<bdi>a\\u{0}b\\u{202e}c</bdi>')
})

test('embeddedJson cannot end its script element, and parses to the same value', () => {
  const value = { a: '</script><!--<script>&lt;\u2028\u2029\ud800', b: [1, null] }
  const { text } = embeddedJson(value)
  expect(text).not.toMatch(/[<>&\u2028\u2029]/)
  expect(JSON.parse(text)).toEqual(value)
})
