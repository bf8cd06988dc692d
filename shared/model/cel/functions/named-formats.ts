import { stringFormat } from '../../schema/formats.ts'
import { spendText, type Functions, type Run } from '../overload.ts'
import { Opaque, Optional, type Value } from '../value.ts'
import { isRequestUrl } from './url.ts'

/** A form that texts have. */
class NamedFormat extends Opaque {
  readonly type = 'kubernetes.NamedFormat'
  readonly name: string

  constructor(name: string) {
    super()
    this.name = name
  }

  equals(other: Opaque): boolean {
    return other instanceof NamedFormat && other.name === this.name
  }
}

interface Form {
  readonly fits: (text: string) => boolean
  readonly fault: string
}

const label = '[a-z0-9]([-a-z0-9]*[a-z0-9])?'

function pattern(source: string, most: number, fault: string): Form {
  const whole = new RegExp(`^(?:${source})$`)
  return { fits: (text) => text.length <= most && whole.test(text), fault }
}

function schemaFormat(name: string): Form {
  return { fits: (text) => stringFormat(name)?.(text) ?? true, fault: `must be a ${name}` }
}

const labelFault =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character"
const subdomainFault =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character"
const oldLabelFault =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character"
const nameFault =
  "a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
const valueFault =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"

const forms: Readonly<Record<string, Form>> = {
  dns1123Label: pattern(label, 63, labelFault),
  dns1123Subdomain: pattern(`${label}(\\.${label})*`, 253, subdomainFault),
  dns1035Label: pattern('[a-z]([-a-z0-9]*[a-z0-9])?', 63, oldLabelFault),
  qualifiedName: pattern(`(${label}(\\.${label})*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`, 317, nameFault),
  dns1123LabelPrefix: pattern('[a-z0-9][-a-z0-9]*', 63, labelFault),
  dns1123SubdomainPrefix: pattern(`(${label}\\.)*[a-z0-9]([-a-z0-9]*)?`, 253, subdomainFault),
  dns1035LabelPrefix: pattern('[a-z][-a-z0-9]*', 63, oldLabelFault),
  labelValue: pattern('(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?', 63, valueFault),
  uri: { fits: isRequestUrl, fault: 'must be a valid URI' },
  uuid: schemaFormat('uuid'),
  byte: schemaFormat('byte'),
  date: schemaFormat('date'),
  datetime: schemaFormat('datetime'),
}

const validate: Run = ([format, text], meter) => {
  spendText(meter, text as string)
  const { fits, fault } = forms[(format as NamedFormat).name] as Form
  return new Optional(fits(text as string) ? undefined : [fault])
}

export const namedFormats: Functions = {
  ...Object.fromEntries(
    Object.keys(forms).map((name): [string, Run] => [
      `format.${name}() kubernetes.NamedFormat`,
      () => new NamedFormat(name),
    ]),
  ),
  'format.named(string) optional(kubernetes.NamedFormat)': ([name]): Value =>
    new Optional(Object.hasOwn(forms, name as string) ? new NamedFormat(name as string) : undefined),
  'kubernetes.NamedFormat.validate(string) optional(list(string))': validate,
}
