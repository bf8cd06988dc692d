import { expect, it } from 'vitest'
import { keyElement, nameElement, showPath, valueElement } from '../../../../../shared/model/apply/fields/field-path.ts'

const rows = [
  { because: 'names follow a dot', path: [nameElement('spec'), nameElement('size')], shown: '.spec.size' },
  {
    because: 'items of a list are known by their keys',
    path: [
      nameElement('ports'),
      keyElement([
        ['name', 'http'],
        ['port', 80],
      ]),
      nameElement('x'),
    ],
    shown: '.ports[name="http",port=80].x',
  },
  {
    because: 'items of a set are their own names',
    path: [nameElement('tags'), valueElement('a"b')],
    shown: '.tags[="a\\"b"]',
  },
  { because: 'numbers look as in Go', path: [valueElement(1e-7), valueElement(true)], shown: '[=1e-07][=true]' },
  { because: 'texts look as in Go, too', path: [valueElement('a\u2028\u0007')], shown: '[="a\\u2028\\a"]' },
  { because: 'a list left over in a set is its own name', path: [valueElement([1, 2])], shown: '[=[1,2]]' },
  { because: 'items may be known by position', path: [nameElement('args'), 'i:3'], shown: '.args[3]' },
]

it.each(rows)('a path reads $shown: $because', ({ path, shown }) => {
  expect(showPath(path)).toBe(shown)
})
