// What is wrong with a page as it is laid out, as a list of sentences. Evaluated in the page; the value is the list.
;(() => {
  const problems = []
  const root = document.documentElement
  if (root.scrollWidth > window.innerWidth)
    problems.push(`the page is ${root.scrollWidth} wide in a window of ${window.innerWidth}`)

  // Parts of an element that those around it let be seen.
  const visible = (rect, element) => {
    let { left, right, top, bottom } = rect
    for (let parent = element; parent && parent !== document.body; parent = parent.parentElement) {
      const { overflowX, overflowY } = getComputedStyle(parent)
      const frame = parent.getBoundingClientRect()
      if (overflowX === 'auto') {
        left = Math.max(left, frame.left)
        right = Math.min(right, frame.right)
      }
      if (overflowY === 'auto') {
        top = Math.max(top, frame.top)
        bottom = Math.min(bottom, frame.bottom)
      }
    }
    return { left, right, top, bottom }
  }

  const isScrolled = (element) => element.closest('.scroll') !== null
  const parse = (colour) => {
    const numbers = (colour.match(/[\d.]+/g) ?? []).map(Number)
    const [r = 0, g = 0, b = 0, a = 1] = numbers
    return { r, g, b, a }
  }
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a),
    g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a),
    a: 1,
  })
  const ground = (element) => {
    const layers = []
    for (let parent = element; parent; parent = parent.parentElement)
      layers.unshift(parse(getComputedStyle(parent).backgroundColor))
    return layers.reduce((below, top) => over(top, below), { r: 255, g: 255, b: 255, a: 1 })
  }
  // WCAG 2.2, relative luminance and contrast ratio.
  const luminance = ({ r, g, b }) => {
    const [R, G, B] = [r, g, b].map((value) => {
      const share = value / 255
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * R + 0.7152 * G + 0.0722 * B
  }
  const contrast = (a, b) => {
    const [dark, light] = [luminance(a), luminance(b)].sort((x, y) => x - y)
    return (light + 0.05) / (dark + 0.05)
  }

  const texts = []
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement
    if (node.data.trim() === '' || element.closest('title, desc') || !element.checkVisibility()) continue
    const range = document.createRange()
    range.selectNodeContents(node)
    const rects = [...range.getClientRects()].filter(({ width, height }) => width > 0.5 && height > 0.5)
    if (rects.length === 0) continue
    const style = getComputedStyle(element)
    const svg = element.closest('svg')
    const colour = parse(svg ? style.fill : style.color)
    const found = contrast(over(colour, ground(element)), ground(element))
    if (found < 4.5) problems.push(`"${node.data.trim()}" has a contrast of ${found.toFixed(2)}`)
    for (const rect of rects) {
      if (!isScrolled(element) && (rect.left < -0.5 || rect.right > window.innerWidth + 0.5))
        problems.push(`"${node.data.trim()}" leaves the page`)
      if (svg) {
        const frame = svg.getBoundingClientRect()
        if (rect.left < frame.left - 1 || rect.right > frame.right + 1 || rect.bottom > frame.bottom + 1)
          problems.push(`"${node.data.trim()}" leaves its drawing`)
      }
      const seen = visible(rect, element)
      if (seen.right - seen.left > 1 && seen.bottom - seen.top > 1) texts.push({ node, ...seen })
    }
  }

  // Lines of one paragraph may touch each other by the ascent of their letters.
  const TOUCH = 3
  texts.sort((a, b) => a.top - b.top)
  texts.forEach((a, index) => {
    for (let other = index + 1; other < texts.length && texts[other].top < a.bottom - TOUCH; other++) {
      const b = texts[other]
      if (a.node === b.node) continue
      const width = Math.min(a.right, b.right) - Math.max(a.left, b.left)
      const height = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top)
      if (width > 1 && height > TOUCH) problems.push(`"${a.node.data.trim()}" and "${b.node.data.trim()}" overlap`)
    }
  })

  for (const element of document.querySelectorAll('main *, header *')) {
    if (element.closest('svg') || isScrolled(element) || getComputedStyle(element).display === 'inline') continue
    if (element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 0)
      problems.push(`<${element.localName} class="${element.className}"> is wider inside than outside`)
  }
  return [...new Set(problems)].slice(0, 20)
})()
