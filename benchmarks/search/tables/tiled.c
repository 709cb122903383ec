/* A product of matrices, tile by tile: ORDER TILE_I TILE_J TILE_K PACKED UNROLL. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 192 };

static double a[N][N], b[N][N], c[N][N], pack[N * N];

static int least(int x, int y) { return x < y ? x : y; }

static void tile(int i0, int i1, int j0, int j1, int k0, int k1, int packed, int unroll) {
  int width = j1 - j0;
  if (packed)
    for (int k = k0; k < k1; k++)
      memcpy(pack + (k - k0) * width, &b[k][j0], (size_t)width * sizeof(double));
  for (int i = i0; i < i1; i++)
    for (int k = k0; k < k1; k++) {
      const double *row = packed ? pack + (k - k0) * width : &b[k][j0];
      double *out = &c[i][j0], left = a[i][k];
      int j = 0;
      if (unroll == 4)
        for (; j + 4 <= width; j += 4) {
          out[j] += left * row[j];
          out[j + 1] += left * row[j + 1];
          out[j + 2] += left * row[j + 2];
          out[j + 3] += left * row[j + 3];
        }
      for (; j < width; j++) out[j] += left * row[j];
    }
}

int main(int count, char **words) {
  if (count != 7) return 2;
  int size[3] = {atoi(words[2]), atoi(words[3]), atoi(words[4])}, at[3];
  int first = words[1][0] - 'i', second = words[1][1] - 'i', third = words[1][2] - 'i';
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
  for (at[first] = 0; at[first] < N; at[first] += size[first])
    for (at[second] = 0; at[second] < N; at[second] += size[second])
      for (at[third] = 0; at[third] < N; at[third] += size[third])
        tile(at[0], least(at[0] + size[0], N), at[1], least(at[1] + size[1], N), at[2],
             least(at[2] + size[2], N), atoi(words[5]), atoi(words[6]));
  printf("%g\n", c[N / 2][N / 3]);
  return 0;
}
