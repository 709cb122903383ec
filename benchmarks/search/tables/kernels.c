/* Three small kernels, so that no flag helps all of them: a reduction, a stencil, and calls. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 40000, ROUNDS = 12 };

static double dot(const double *a, const double *b, int n) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}

static void stencil(const float *from, float *to, int n) {
  for (int i = 2; i < n - 2; i++)
    to[i] = 0.1f * (from[i - 2] + from[i + 2]) + 0.2f * (from[i - 1] + from[i + 1]) + 0.4f * from[i];
}

static unsigned step(unsigned x) { return x ^ (x << 13) ^ (x >> 17) ^ (x << 5); }

static unsigned chain(unsigned x, int n) {
  for (int i = 0; i < n; i++) x = step(x + (unsigned)i);
  return x;
}

int main(void) {
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b), total = 0.0;
  float *f = malloc(N * sizeof *f), *g = malloc(N * sizeof *g);
  unsigned x = 1;
  for (int i = 0; i < N; i++) {
    a[i] = i % 7;
    b[i] = i % 5;
    f[i] = (float)(i % 3);
    g[i] = 0.0f;
  }
  for (int round = 0; round < ROUNDS; round++) {
    for (int k = 0; k < 6; k++) total += dot(a, b, N);
    for (int k = 0; k < 8; k++) stencil(k % 2 ? g : f, k % 2 ? f : g, N);
    x = chain(x, N);
    for (int i = 0; i < N; i += 16) a[i] = sqrt(fabs(a[i] + total * 1e-9));
  }
  printf("%g %g %u\n", total, (double)f[N / 2], x);
  return 0;
}
