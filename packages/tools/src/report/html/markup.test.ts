import { expect, test } from 'vitest'
import { embeddedJson, foreign, html, Markup } from './markup.js'

test('what is put into a template is text: it opens no element, ends no attribute, and begins no entity', () => {
  expect(html`<p title="${`"'`}">${'<b>&amp;</b>'}</p>`.text).toBe(
    '<p title="&quot;&#39;">&lt;b&gt;&amp;amp;&lt;/b&gt;</p>',
  )
})

test('markup stays what it is, lists are joined, and nothing is nothing', () => {
  expect(html`${[1, html`<i>a</i>`, ['b', undefined]]}${undefined}${new Markup('&times;')}`.text).toBe(
    '1<i>a</i>b&times;',
  )
})

test('control characters and those that turn text around are shown by their numbers', () => {
  expect(foreign('a\u0000b\u202ec').text).toBe('<bdi>a\\u{0}b\\u{202e}c</bdi>')
})

test('JSON in a script element has nothing in it that ends the element, and is read as it was', () => {
  const value = { a: '</script><!--<script>&lt;\u2028\u2029\ud800', b: [1, null] }
  const { text } = embeddedJson(value)
  expect(text).not.toMatch(/[<>&\u2028\u2029]/)
  expect(JSON.parse(text)).toEqual(value)
})
