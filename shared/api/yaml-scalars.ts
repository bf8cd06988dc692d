import type { ScalarTag } from 'yaml'

/**
 * The meaning of plain words of YAML. kubectl and Kubernetes read them so, and a file has one meaning for all clients.
 * Most of it is YAML 1.1: `yes` is true, and `0644` is octal. Times and numbers to the base of 60 are left out. Source:
 * go.yaml.in/yaml/v2, `resolve.go`.
 */
export const scalarTags: ScalarTag[] = [
  { default: true, tag: 'tag:yaml.org,2002:null', test: /^(?:~|null|Null|NULL)?$/, resolve: () => null },
  {
    default: true,
    tag: 'tag:yaml.org,2002:bool',
    test: /^(?:y|Y|yes|Yes|YES|true|True|TRUE|on|On|ON|n|N|no|No|NO|false|False|FALSE|off|Off|OFF)$/,
    resolve: (word) => /^(?:y|t|on)/i.test(word),
  },
  {
    default: true,
    tag: 'tag:yaml.org,2002:int',
    test: /^[-+]?(?:0[bB]_*[01][01_]*|0[oO]?_*[0-7][0-7_]*|0[xX]_*[\da-fA-F][\da-fA-F_]*|0_*|[1-9][\d_]*)$/,
    resolve: wholeNumber,
  },
  {
    default: true,
    tag: 'tag:yaml.org,2002:float',
    test: /^(?:[-+]?(?:\.\d+|\d[\d_]*(?:\.[\d_]*)?)(?:[eE][-+]?\d[\d_]*)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/,
    resolve: fraction,
  },
]

/** Digits behind a zero are octal. */
function wholeNumber(text: string): bigint {
  const plain = text.replaceAll('_', '')
  const digits = plain.replace(/^[-+]/, '').replace(/^0(?=[0-7])/, '0o')
  return plain.startsWith('-') ? -BigInt(digits) : BigInt(digits)
}

function fraction(text: string): number {
  if (/nan$/i.test(text)) return Number.NaN
  if (/inf$/i.test(text)) return text.startsWith('-') ? -Infinity : Infinity
  return Number(text.replaceAll('_', ''))
}
