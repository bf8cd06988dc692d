import { Stack } from 'aws-cdk-lib'
import type { ControlPlane } from './control-plane.ts'
import type { TokenIssuer } from './principals.ts'

/**
 * The commands that make kubectl a client of a control plane, to be pasted into a shell. It signs in with whatever
 * credentials the AWS command line has, by what that prints: no program of ours is needed. What it prints is kept for
 * ten minutes, in a file that others cannot read. Stacks of one name in other Regions or accounts have contexts of
 * their own.
 */
export function kubectlSetup(controlPlane: ControlPlane): string {
  const { api, clusterId } = controlPlane
  const { region } = Stack.of(controlPlane)
  const issuer = controlPlane.issuers.find(isAwsIssuer)
  const login = issuer === undefined ? presignArguments(clusterId, region) : webIdentity(issuer, region)
  return [
    `kubectl config set-cluster ${clusterId} --server=${api.url}`,
    `kubectl config set-credentials ${clusterId} --exec-api-version=client.authentication.k8s.io/v1 --exec-interactive-mode=Never --exec-command=sh ${['-c', keptLogin, 'aws', ...login].map(execArg).join(' ')}`,
    `kubectl config set-context ${clusterId} --cluster=${clusterId} --user=${clusterId}`,
    `kubectl config use-context ${clusterId}`,
  ].join(' && ')
}

/**
 * The AWS command line takes a second to start, and kubectl starts it each time. So a file keeps the token. A token
 * holds for a quarter of an hour, and its file counts for ten minutes, or until a file of AWS's configuration changes.
 * Each way to sign in that the environment names has a file of its own.
 */
const keptLogin = [
  'umask 077; d="$HOME/.kube/cache/setpoint"; mkdir -p "$d" 2>/dev/null',
  'k=$(printf "%s|" "$@" "$AWS_PROFILE" "$AWS_DEFAULT_PROFILE" "$AWS_ACCESS_KEY_ID" "$AWS_ROLE_ARN" "$AWS_CONFIG_FILE" "$AWS_SHARED_CREDENTIALS_FILE" | cksum | tr " " "-"); f="$d/$k"',
  'for c in "${AWS_SHARED_CREDENTIALS_FILE:-$HOME/.aws/credentials}" "${AWS_CONFIG_FILE:-$HOME/.aws/config}"; do [ "$c" -nt "$f" ] && rm -f "$f"; done',
  '[ -n "$(find "$f" -mmin -10 2>/dev/null)" ] && exec cat "$f"',
  't=$(aws "$@") || exit; printf "%s" "$t"',
  '{ printf "%s" "$t" >"$f.$$" && mv "$f.$$" "$f"; } 2>/dev/null; exit 0',
].join('; ')

/** kubectl reads the flag as a line of CSV, because it may hold several arguments, and before that a shell reads it. */
function execArg(argument: string): string {
  if (!/[",`$ ]/.test(argument)) return `--exec-arg=${argument}`
  return `'--exec-arg="${argument.replaceAll('"', '""')}"'`
}

/** Those of AWS itself: https://<id>.tokens.sts.global.api.aws */
function isAwsIssuer({ issuer }: TokenIssuer): boolean {
  return /\.tokens\.sts\.[\w.-]*api\.aws$/.test(issuer)
}

/** A JSON Web Token that STS signs. `--query` makes of the answer what kubectl wants to read. */
function webIdentity({ audience }: TokenIssuer, region: string): readonly string[] {
  return [
    'sts',
    'get-web-identity-token',
    `--audience=${audience}`,
    '--signing-algorithm=ES384',
    '--duration-seconds=900',
    `--region=${region}`,
    '--output=json',
    `--query=${execCredential}`,
  ]
}

/** Works for every principal without preparations: the AWS command line presigns a request for its own name. */
function presignArguments(clusterId: string, region: string): readonly string[] {
  return ['eks', 'get-token', `--cluster-name=${clusterId}`, `--region=${region}`, '--output=json']
}

/** https://kubernetes.io/docs/reference/config-api/client-authentication.v1/ */
const execCredential =
  '{apiVersion:`"client.authentication.k8s.io/v1"`,kind:`"ExecCredential"`,status:{token:WebIdentityToken,expirationTimestamp:Expiration}}'
