/** A certificate for model.test and its key, made for these tests; it protects nothing. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBqDCCAU+gAwIBAgIUOKHqxBNTv2zvm/gJiuebqarupCswCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKbW9kZWwudGVzdDAgFw0yNjExMjEwMDE5MDJaGA8yMTI2MTAy
ODAwMTkwMlowFTETMBEGA1UEAwwKbW9kZWwudGVzdDBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABKrEaklWLQBgjvpzHXqCM60HwxXWM3a8OZsTmV0fP1VSSNmeBjfG
fsMB1FJn0gCBExGeZEUfYMkJ1tFZuiuJjM+jezB5MB0GA1UdDgQWBBTVGD4XVBKN
GzKyYwViLrraSEFzfjAfBgNVHSMEGDAWgBTVGD4XVBKNGzKyYwViLrraSEFzfjAP
BgNVHRMBAf8EBTADAQH/MCYGA1UdEQQfMB2CCm1vZGVsLnRlc3SCCWxvY2FsaG9z
dIcEfwAAATAKBggqhkjOPQQDAgNHADBEAiBpJ5rtAqw58Aw387NtAwlunnlTUsbt
bOaZTNg09MMksgIgLn9RsVQ9ylRVCl+EDhKu91Exf5zJ94JCjVxbMWzvwH8=
-----END CERTIFICATE-----`;
export const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgNXR6be9OarEdQUGQ
3tYyWujk2557UHtHSvm6cL2XdgehRANCAASqxGpJVi0AYI76cx16gjOtB8MV1jN2
vDmbE5ldHz9VUkjZngY3xn7DAdRSZ9IAgRMRnmRFH2DJCdbRWboriYzP
-----END PRIVATE KEY-----`;

/** What a model says that says hello. */
export const HELLO = [
  { type: "text", text: "Hello" },
  { type: "end", reason: "stop" },
];
