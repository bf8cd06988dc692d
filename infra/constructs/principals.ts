import { Token } from 'aws-cdk-lib'
import * as iam from 'aws-cdk-lib/aws-iam'

/** An OpenID Connect issuer, and for whom its tokens must be made out. */
export interface TokenIssuer {
  /** The URL below which `/.well-known/openid-configuration` is. */
  readonly issuer: string
  readonly audience: string
  /**
   * Whether all of its subjects may call the API, with the rights that bindings give them. Do not say so of an issuer
   * that gives tokens for your audience to anybody.
   * @default false - only those who are listed
   */
  readonly anySubject?: boolean
  /**
   * The claim that has the groups of a subject, for bindings. None that begins with `system:` or `setpoint:` is taken.
   * @default - no groups
   */
  readonly groupsClaim?: string
  /** @default - nothing stands before a group */
  readonly groupsPrefix?: string
}

/** Who may call the API, and as what. Those who are let in later than it is made are on its lists, too. */
export class Principals {
  readonly administrators: string[]
  readonly readers: string[] = []
  readonly issuers: readonly TokenIssuer[]

  constructor(administrators: readonly string[], issuers: readonly TokenIssuer[]) {
    if (Token.isUnresolved(administrators))
      throw new Error('administrators must be given one by one, and not as a list that CloudFormation fills in')
    for (const name of administrators) checkName(name, issuers)
    this.administrators = [...administrators]
    this.issuers = issuers
  }

  /** Puts a role or user on a list. A presigned request needs no permission; a token of STS does, for its audience. */
  letIn(grantee: iam.IGrantable, list: 'administrators' | 'readers'): iam.Grant {
    const arn = arnOf(grantee)
    checkName(arn, this.issuers)
    this[list].push(arn)
    if (this.issuers.length === 0) return iam.Grant.drop(grantee, 'signs in by a presigned request')
    return iam.Grant.addToPrincipal({
      grantee,
      actions: ['sts:GetWebIdentityToken'],
      resourceArns: ['*'],
      conditions: {
        'ForAllValues:StringEquals': { 'sts:IdentityTokenAudience': this.issuers.map(({ audience }) => audience) },
      },
    })
  }
}

/** Throws for a name that nobody proves to have: who stands on a list under it would be refused without a word. */
function checkName(name: string, issuers: readonly TokenIssuer[]): void {
  if (Token.isUnresolved(name) || ofAws.test(name)) return
  if (issuers.some(({ issuer }) => Token.isUnresolved(issuer) || name.startsWith(`${issuer}#`))) return
  const why = /:assumed-role\//.test(name) ? 'of an assumed role give that of the role itself, as IAM shows it' : forms
  throw new Error(`nobody signs in as ${JSON.stringify(name)}: ${why}`)
}

const ofAws =
  /^arn:aws[a-z-]*:(?:iam::\d{12}:(?:root|(?:role|user)\/[\w+=,.@/-]+)|sts::\d{12}:federated-user\/[\w+=,.@-]+)$/
const forms = 'a name is the ARN of an IAM role or user, or issuer#subject of one of the issuers'

/** Of a role or a user. */
function arnOf({ grantPrincipal }: iam.IGrantable): string {
  // By the ARN of an account only its root user would come in.
  if (grantPrincipal instanceof iam.AccountPrincipal) throw new Error('only a role or a user can sign in')
  if (grantPrincipal instanceof iam.ArnPrincipal) return grantPrincipal.arn
  const { roleArn, userArn } = grantPrincipal as Partial<iam.IRole & iam.IUser>
  const arn = roleArn ?? userArn
  if (arn === undefined) throw new Error('only a role or a user can sign in')
  return arn
}
