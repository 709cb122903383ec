// The capacitance of two parallel square plates, from narrow to wide gaps, by boundary elements.
//
// Each plate is cut into square panels. The charge that every panel must carry for the plates to
// sit at +1/2 and -1/2 volt is the solution of a dense, symmetric, positive definite system: one
// Cholesky factorisation for each gap, done by LAPACK on OpenBLAS. The unit of length is the side
// of a plate and the permittivity is 1, so that the textbook's capacitance is 1 / gap.

#include "../common.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numbers>
#include <string_view>
#include <vector>

// Debian's OpenBLAS brings LAPACK but no header for it. Fortran passes the length of `uplo` last.
extern "C" {
void dposv_(const char* uplo, const int* n, const int* nrhs, double* a, const int* lda, double* b,
            const int* ldb, int* info, std::size_t uplo_length);
const char* openblas_get_corename();
int openblas_get_num_threads();
}

namespace {

constexpr const char* program_name = "linalg";
constexpr double most_residual = 1e-10; // of 1/2 volt; rounding leaves about 1e-14

struct Options {
    int panels = 40; // along a side
    int gaps = 4;
    double narrow = 0.1;
    double wide = 1.0;
};

Options parse(int argc, char** argv) {
    Options options;
    for (int i = 1; i < argc; i += 2) {
        const std::string_view flag = argv[i];
        if (flag == "--help") {
            std::puts("usage: linalg [--panels N] [--gaps N] [--narrow GAP] [--wide GAP]");
            std::exit(0);
        }
        if (flag != "--panels" && flag != "--gaps" && flag != "--narrow" && flag != "--wide")
            examples::refuse(program_name, flag, "unknown flag; see --help");
        if (i + 1 == argc) examples::refuse(program_name, flag, "needs a value");
        if (flag == "--panels")
            options.panels = examples::number(program_name, flag, argv[i + 1], 2, 100);
        else if (flag == "--gaps")
            options.gaps = examples::number(program_name, flag, argv[i + 1], 1, 10'000);
        else if (flag == "--narrow")
            options.narrow = examples::number(program_name, flag, argv[i + 1], 1e-3, 1e9);
        else
            options.wide = examples::number(program_name, flag, argv[i + 1], 1e-3, 1e9);
    }
    if (options.wide < options.narrow) examples::refuse(program_name, "--wide", "must not be below --narrow");
    return options;
}

// The potential that a unit of charge on one panel raises at the centre of another.
class Influence {
  public:
    Influence(int panels, double gap) : panels_(panels), table_(2UL * panels * panels) {
        for (int layer = 0; layer < 2; ++layer)
            for (int y = 0; y < panels; ++y)
                for (int x = 0; x < panels; ++x) places_.push_back({layer, y, x});
        const double side = 1.0 / panels;
        for (int layer = 0; layer < 2; ++layer)
            for (int dy = 0; dy < panels; ++dy)
                for (int dx = 0; dx < panels; ++dx) {
                    const double distance = std::hypot(dx * side, dy * side, layer * gap);
                    // Far away a panel acts as a point; its own centre needs the exact integral.
                    table_[index(layer, dy, dx)] =
                        distance > 0 ? 1.0 / (4 * std::numbers::pi * distance)
                                     : std::log(1 + std::numbers::sqrt2) / (std::numbers::pi * side);
                }
    }

    int size() const { return static_cast<int>(places_.size()); }
    // Only the distance counts, so that one table serves all pairs of panels.
    double operator()(int i, int j) const {
        const Place& a = places_[i];
        const Place& b = places_[j];
        return table_[index(a.layer ^ b.layer, std::abs(a.y - b.y), std::abs(a.x - b.x))];
    }

  private:
    struct Place {
        int layer, y, x;
    };
    std::size_t index(int layer, int dy, int dx) const {
        return (static_cast<std::size_t>(layer) * panels_ + dy) * panels_ + dx;
    }
    int panels_;
    std::vector<Place> places_;
    std::vector<double> table_;
};

// The charges that raise `volts`. `matrix` is room for the system: all gaps use the same.
std::vector<double> solve(const Influence& influence, std::vector<double>& matrix,
                          std::vector<double> volts) {
    const int n = influence.size();
    for (int column = 0; column < n; ++column)
        for (int row = column; row < n; ++row) // LAPACK reads the lower triangle alone
            matrix[static_cast<std::size_t>(column) * n + row] = influence(row, column);
    const int one = 1;
    int info = 0;
    dposv_("L", &n, &one, matrix.data(), &n, volts.data(), &n, &info, 1);
    if (info != 0) {
        std::fprintf(stderr, "%s: Cholesky stops at row %d: the gap is too narrow for the panels\n",
                     program_name, info);
        std::exit(1);
    }
    return volts;
}

// The largest error in volts, from the table again and without BLAS.
double residual(const Influence& influence, const std::vector<double>& charges,
                const std::vector<double>& volts) {
    double largest = 0;
    for (int i = 0; i < influence.size(); ++i) {
        double sum = 0;
        for (int j = 0; j < influence.size(); ++j) sum += influence(i, j) * charges[j];
        largest = std::max(largest, std::abs(sum - volts[i]));
    }
    return largest;
}

} // namespace

int main(int argc, char** argv) try {
    const Options options = parse(argc, argv);
    const int plate = options.panels * options.panels;
    const std::size_t n = 2UL * plate;
    std::vector<double> volts(n, 0.5);
    std::fill(volts.begin() + plate, volts.end(), -0.5);

    double worst = 0;
    double solving_s = 0;
    double capacitance = 0;
    std::vector<double> matrix(n * n);
    for (int step = 0; step < options.gaps; ++step) {
        // Gaps grow by a constant factor from the narrow to the wide one.
        const double share = options.gaps > 1 ? step / (options.gaps - 1.0) : 0.0;
        const double gap = options.narrow * std::pow(options.wide / options.narrow, share);
        const Influence influence(options.panels, gap);
        const auto start = std::chrono::steady_clock::now();
        const auto charges = solve(influence, matrix, volts);
        solving_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

        // On one volt between the plates, the charge of a plate is the capacitance.
        capacitance = 0;
        for (int i = 0; i < plate; ++i) capacitance += charges[i];
        worst = std::max(worst, residual(influence, charges, volts));
        std::printf("capacitance gap=%.4f value=%.6f textbook=%.6f\n", gap, capacitance, 1 / gap);
        // Charge crowds at the edges, so that a real capacitor holds more than the textbook's.
        if (!(capacitance > 1 / gap)) {
            std::fprintf(stderr, "%s: gap %g: less capacitance than without edges\n", program_name, gap);
            return 1;
        }
    }

    const double flops = options.gaps * std::pow(static_cast<double>(n), 3) / 3;
    std::printf("core=%s\n", openblas_get_corename());
    std::printf("threads=%d\n", openblas_get_num_threads());
    std::printf("capacitance=%.6f\n", capacitance);
    std::printf("residual=%.2e\n", worst);
    std::printf("gflops=%.2f\n", flops / solving_s / 1e9);
    if (!(worst <= most_residual)) {
        std::fprintf(stderr, "%s: residual %.2e is above %.0e\n", program_name, worst, most_residual);
        return 1;
    }
    std::puts("check=ok");
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program_name, error.what());
    return 2;
}
